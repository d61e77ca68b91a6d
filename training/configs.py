"""Config files: read in one way, with the line of what is wrong."""

import configparser
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from confection import Config

from training.errors import BergamotError, Errors


def load_config(
    path: Path, overrides: dict[str, Any] | None = None, *, interpolate: bool = True
) -> Config:
    """Read a config file.

    overrides (dict[str, Any] | None): Values by "section.key".
    interpolate (bool): Put values in the place of ${section.key}; see `interpolated`.
    RAISES (BergamotError): T210 for an unreadable file.
    """
    try:
        return Config().from_disk(path, overrides=overrides or {}, interpolate=interpolate)
    except (OSError, ValueError, configparser.Error) as reason:
        raise _unreadable(path, reason) from None


def interpolated(config: Config, path: Path) -> Config:
    """Return a config with values in the place of ${section.key}. RAISES (BergamotError): T210."""
    try:
        return config.interpolate()
    except (ValueError, configparser.Error) as reason:
        raise _unreadable(path, reason) from None


def check_names(
    path: Path, *, missing: Collection[str], unknown: Collection[str], example: str
) -> None:
    """Raise T211 if names are missing or unknown; `example` is a config that has the right ones."""
    if missing or unknown:
        lists = {"missing": sorted(missing), "unknown": sorted(unknown)}
        texts = {name: ", ".join(values) or "none" for name, values in lists.items()}
        raise BergamotError(Errors.T211, path=path, example=example, **texts)


def _unreadable(path: Path, reason: Exception) -> BergamotError:
    line = re.search(r"\[line\s+(\d+)\]", str(reason))
    place = f"{path}:{line[1]}" if line else path
    return BergamotError(Errors.T210, path=place, reason=reason)
