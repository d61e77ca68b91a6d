"""EncoderSettings: how names become vectors, as a language model's folder says it.

`bergamot.json` says everything. A folder without it may be one of sentence-transformers, whose
files say pooling and length. Pooling is never guessed: the wrong one gives vectors that look like
any others and find little.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spacy_bergamot.errors import BergamotError, Errors, check_choice

SETTINGS = "bergamot.json"
POOLINGS = ("cls", "mean")

_MODULES = ("Transformer", "Pooling", "Normalize")
_SWITCH = "pooling_mode_"
_SWITCHES = {"cls_token": "cls", "mean_tokens": "mean"}


@dataclass(frozen=True)
class EncoderSettings:
    """How names become vectors; stored beside the language model.

    pooling (str): "cls", the first token's last hidden state, or "mean" over the real tokens.
    max_length (int): Tokens kept of a name, special tokens included.
    lowercase (bool): Fold a name to its normal form (`spacy_bergamot.text.normalize`) first.
    prefix (str): Written before every name, as "query: " for E5.
    """

    pooling: str
    max_length: int = 25
    lowercase: bool = True
    prefix: str = ""

    def __post_init__(self) -> None:
        check_choice("pooling", self.pooling, POOLINGS)
        if self.max_length < 1:
            value, rule = self.max_length, "at least 1"
            raise BergamotError(Errors.B037, setting="max_length", value=value, rule=rule)

    @classmethod
    def read(
        cls,
        folder: Path,
        *,
        pooling: str | None = None,
        max_length: int | None = None,
        lowercase: bool | None = None,
        prefix: str | None = None,
    ) -> "EncoderSettings":
        """Read a folder's settings; what is given goes before what the folder says.

        Names are folded where nobody says otherwise: index and linker look names up in their
        normal form, so that sentence-transformers' `do_lower_case` has no say.

        folder (Path): A language model.
        pooling, max_length, lowercase, prefix: As of the class; None takes what the folder says.
        RAISES (BergamotError): B080 if neither says the pooling, B081 if
            sentence-transformers' files ask for more than these settings can.
        """
        asked = {
            "pooling": pooling,
            "max_length": max_length,
            "lowercase": lowercase,
            "prefix": prefix,
        }
        given = {name: value for name, value in asked.items() if value is not None}
        path = Path(folder) / SETTINGS
        if path.is_file():
            said = read_json(path, "encoder settings")
        else:
            said = _sentence_transformers(Path(folder), pooled=pooling is None)
        if "pooling" not in {**said, **given}:
            raise BergamotError(Errors.B080, path=folder)
        try:
            return cls(**{**said, **given})
        except TypeError as reason:
            raise BergamotError(
                Errors.B002, path=path, what="encoder settings", reason=reason
            ) from None

    def write(self, folder: Path) -> None:
        """Write bergamot.json.

        folder (Path): A language model.
        """
        text = json.dumps(asdict(self), indent=1)
        (Path(folder) / SETTINGS).write_text(text + "\n", encoding="utf8")


def read_json(path: Path, what: str) -> dict[str, Any]:
    """Read a JSON object.

    path (Path): The file.
    what (str): For the error.
    RAISES (BergamotError): B002, with `what` it should be.
    """
    found = _parsed(path, what)
    if not isinstance(found, dict):
        raise BergamotError(Errors.B002, path=path, what=what, reason="not an object")
    return found


def _sentence_transformers(folder: Path, *, pooled: bool) -> dict[str, Any]:
    """Return what sentence-transformers' files say, by our names; nothing where there are none.

    pooled (bool): Ask for the pooling too.
    """
    said: dict[str, Any] = {}
    limits = folder / "sentence_bert_config.json"
    if limits.is_file():
        length = read_json(limits, "sentence-transformers' settings").get("max_seq_length")
        said.update({"max_length": length} if length is not None else {})
    if pooled:
        path = _pooling_folder(folder) / "config.json"
        if path.is_file():
            said["pooling"] = _pooling(path)
    return said


def _pooling_folder(folder: Path) -> Path:
    """Return where the pooling's settings are.

    RAISES (BergamotError): B081 for a module that changes the pooled vectors.
    """
    path = folder / "modules.json"
    if not path.is_file():
        return folder / "1_Pooling"
    modules = _parsed(path, "sentence-transformers' modules")
    try:
        places = {entry["type"].rpartition(".")[2]: entry["path"] for entry in modules}
    except (TypeError, KeyError, AttributeError) as reason:
        what = "sentence-transformers' modules"
        raise BergamotError(Errors.B002, path=path, what=what, reason=repr(reason)) from None
    more = [name for name in places if name not in _MODULES]
    if more:
        changed = f"has modules that change the pooled vectors, {', '.join(more)}"
        raise BergamotError(Errors.B081, path=path, reason=changed)
    return folder / places.get("Pooling", "1_Pooling")


def _pooling(path: Path) -> str:
    """Return the one way of pooling that is on: a name, or since always one of several switches."""
    said = read_json(path, "sentence-transformers' pooling")
    modes = said.get("pooling_mode")
    if modes is None:
        on = [name.removeprefix(_SWITCH) for name in said if name.startswith(_SWITCH)]
        modes = [_SWITCHES.get(name, name) for name in on if said[_SWITCH + name]]
    modes = [modes] if isinstance(modes, str) else list(modes)
    if len(modes) != 1 or modes[0] not in POOLINGS:
        reason = f"pools by {' and '.join(modes) or 'none'}"
        raise BergamotError(Errors.B081, path=path, reason=reason)
    return str(modes[0])


def _parsed(path: Path, what: str) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf8"))
    except (OSError, ValueError, RecursionError) as reason:
        raise BergamotError(Errors.B002, path=path, what=what, reason=reason) from None
