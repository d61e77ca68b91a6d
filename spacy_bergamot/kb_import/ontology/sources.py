"""What files say of the ontologies in them: version, licence, name and address."""

import re
from collections import Counter

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_NUMBER = re.compile(r"(?:version[/_]?|releases?/)v?(\d[\w.-]*)")

LICENCE = "license"
TITLE = "title"
"""How the properties of a header end, in Dublin Core's words."""


class Sources:
    """Version, licence, name and address of ontologies by their prefix.

    stated (dict[str, dict[str, str]]): What a table of sources says: it counts before all else.
    """

    def __init__(self) -> None:
        self.stated: dict[str, dict[str, str]] = {}
        self._found: dict[str, dict[str, list[str]]] = {}

    def say(self, prefix: str, **values: str) -> None:
        """Add what a file's header says; values that are empty or known already change nothing.

        prefix (str): Of the ontology. values (str): By `version`, `licence` and so on.
        """
        known = self._found.setdefault(prefix, {})
        for key, value in values.items():
            if value and value not in known.setdefault(key, []):
                known[key].append(value)

    def of(self, prefix: str) -> dict[str, str]:
        """Return what is known of an ontology; files of several versions give all of them.

        prefix (str): Of the ontology.
        """
        found = {key: ", ".join(values) for key, values in self._found.get(prefix, {}).items()}
        return {key: value for key, value in (found | self.stated.get(prefix, {})).items() if value}


def version_of(text: str) -> str:
    """Return the version that an IRI or a data-version names, such as hp/releases/2024-04-26.

    An IRI that names none, as those of imported modules, gives an empty string.

    text (str): As a file has it.
    """
    if "/" not in text:
        return text.strip()
    found = _DATE.search(text)
    if found:
        return found[0]
    number = _NUMBER.search(text)
    return number[1] if number else ""


def own_prefix(prefixes: Counter[str]) -> str:
    """Return the prefix that most terms of a file have: the header is about these.

    prefixes (Counter[str]): Of the terms of the file.
    """
    return min(prefixes, key=lambda prefix: (-prefixes[prefix], prefix), default="")
