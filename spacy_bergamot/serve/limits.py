"""How much one request may ask for."""

from dataclasses import dataclass

MOST_CANDIDATES = 100
MOST_FOUND = 100
MOST_MENTION = 1000


@dataclass(frozen=True)
class Limits:
    """What is refused beyond, and with which status.

    body (int): Bytes of a request: 413. characters (int): Of a document: 422.
    documents (int): Of a request, and mentions of one: 422.
    waiting (int): Requests that wait for the pipeline or use it: 503 with Retry-After.
    seconds (float): Until a body has arrived, 408, and until a batch of documents is linked: 504.
    """

    body: int = 16_000_000
    characters: int = 200_000
    documents: int = 1000
    waiting: int = 64
    seconds: float = 60.0
