"""Requests that are refused: the status, what is wrong, and in which field."""

from collections.abc import Sequence
from typing import Any, NamedTuple


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
    """Return pydantic's errors without what was given."""
    return [
        Wrong(
            ".".join(map(str, error["loc"])) or "body", error["msg"].removeprefix("Value error, ")
        )
        for error in errors
    ]
