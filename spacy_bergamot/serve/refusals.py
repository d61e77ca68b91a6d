"""Requests that are refused: the status, what is wrong, and in which field."""

from collections.abc import Sequence
from typing import Any, NamedTuple

_STRING = "str"  # what pydantic calls a string among several types


class Wrong(NamedTuple):
    """A field, as `documents.3.language`, and what is wrong with it.

    What it holds is not said: it may be of a patient.
    """

    field: str
    message: str


class Refused(Exception):
    """A request that cannot be answered.

    status (int): Of HTTP. message (str): In one line. fields (list[Wrong]): Of a 422.
    retry_after (int): Seconds after which it may be tried again; 0 where that is no use.
    """

    def __init__(
        self, status: int, message: str, *, fields: tuple[Wrong, ...] = (), retry_after: int = 0
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.fields = fields
        self.retry_after = retry_after

    @classmethod
    def of(cls, *fields: Wrong) -> "Refused":
        """Return a 422 for some fields."""
        said = "; ".join(f"{field.field}: {field.message}" for field in fields[:3])
        return cls(422, said, fields=fields)

    def body(self) -> dict[str, object]:
        """Return what the answer says."""
        return {"error": self.message, "fields": [field._asdict() for field in self.fields]}


def wrong_fields(errors: Sequence[Any]) -> list[Wrong]:
    """Return pydantic's errors without what was given.

    Of a value that may be a string or an object, pydantic says what is wrong with it as either:
    only what it was meant to be stays.
    """
    places = [error["loc"] for error in errors if not _is_other_type(error)]
    meant = {place[:end] for place in places for end in range(len(place) + 1)}
    return [
        Wrong(_field(error["loc"]), error["msg"].removeprefix("Value error, "))
        for error in errors
        if not _is_other_type(error) or error["loc"][:-1] not in meant
    ]


def _is_other_type(error: Any) -> bool:
    """Tell that a value is not of one of the types that it may be of."""
    *_, last = error["loc"] or [""]
    if last == _STRING:
        return bool(error["type"] == "string_type")
    return _is_model(last) and error["type"].startswith("model_")


def _is_model(part: object) -> bool:
    """Tell a model's name, as function-after[check(), Mention], from a field's."""
    return "[" in str(part)


def _field(place: Sequence[Any]) -> str:
    named = [str(part) for part in place if not _is_model(part) and part != _STRING]
    return ".".join(named) or "body"
