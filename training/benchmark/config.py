"""Configs of benchmarks: `configs/benchmark/base.cfg` with what one of them says otherwise."""

from pathlib import Path
from typing import Any

from confection import Config

from training.configs import interpolated, load_config
from training.errors import BergamotError, Errors

BASE = Path(__file__).parents[2] / "configs/benchmark/base.cfg"
_OPEN = {"linker", "corpus.sets"}
"""Sections whose keys are not those of the base: settings of the linker, names of sets."""


def read_config(path: Path, overrides: dict[str, Any]) -> Config:
    """Read a benchmark's config over the base.

    path (Path): The config.
    overrides (dict[str, Any]): Settings by their dotted names.
    RAISES (BergamotError): T210 for an unreadable file, B014 for a setting that the base lacks,
        T292 for one that is missing.
    """
    base, made = (load_config(one, interpolate=False) for one in (BASE, path))
    _check(made, base, path)
    for name, value in overrides.items():
        _check(_nested(name, value), base, path)
        made = made.merge(_nested(name, value), remove_extra=False)
    whole = interpolated(base.merge(made, remove_extra=False), path)
    for name in ("paths.output", "paths.corpus", "corpus.home", "corpus.sets"):
        section, _, key = name.partition(".")
        if not whole[section][key]:
            raise BergamotError(Errors.T292, path=path, name=name)
    return whole


def _nested(name: str, value: Any) -> Config:
    section, _, rest = name.partition(".")
    return Config({section: _nested(rest, value) if rest else value})


def _check(made: dict[str, Any], base: dict[str, Any], path: Path, at: str = "") -> None:
    """Refuse what is not in the base: it would count for nothing."""
    for key, value in made.items():
        name = f"{at}.{key}".lstrip(".")
        if key not in base:
            choices = ", ".join(base)
            raise BergamotError(Errors.B014, what=f"setting of {path}", value=name, choices=choices)
        if isinstance(base[key], dict) and isinstance(value, dict) and name not in _OPEN:
            _check(value, base[key], path, name)
