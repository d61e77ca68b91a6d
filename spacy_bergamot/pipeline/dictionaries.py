"""The tie between a pipeline's dictionaries and its linker's index: both are of one knowledge base.

spaCy tells no component of the others. A linker finds the dictionaries beside it by what the
components of a pipeline share: the vocabulary, and the pipeline itself unless they were pickled.
"""

from collections.abc import Iterator
from typing import Any, Protocol

from spacy.vocab import Vocab

from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.index.changes import Changes
from spacy_bergamot.linking.settings import LinkerSettings
from spacy_bergamot.mentions.component import BergamotMentions
from spacy_bergamot.pipeline.parts import LinkerParts
from spacy_bergamot.storage.bundle import FileBundle
from spacy_bergamot.text import normalize


class Component(Protocol):
    """A component of a pipeline; `home` is a weak reference to it, or None where it is unknown."""

    vocab: Vocab
    name: str
    home: Any


def dictionaries_beside(component: Component) -> Iterator[BergamotMentions]:
    """Yield the dictionaries of a component's pipeline that are loaded."""
    for other in BergamotMentions.living():
        if other.vocab is component.vocab and other.bundle is not None:
            homes = [one.home() for one in (component, other) if one.home is not None]
            if len(homes) < 2 or homes[0] is homes[1]:
                yield other


class Linker(Component, Protocol):
    """A component with a linker's settings."""

    settings: LinkerSettings


def check_dictionaries(linker: Linker, parts: LinkerParts) -> LinkerParts:
    """Return a linker's parts; refuse dictionaries that mark what it links, but other names.

    RAISES (BergamotError): B095 for another knowledge base, B096 for other changes of it.
    """
    expected = parts.index.table.fingerprint
    changes = parts.changes.fingerprint if parts.changes else None
    for other in dictionaries_beside(linker):
        if other.settings.spans_key != linker.settings.spans_key:
            continue
        if other.keys.table != expected:
            found = other.keys.table[:12]
            raise BergamotError(
                Errors.B095,
                name=other.name,
                linker=linker.name,
                found=found,
                expected=expected[:12],
            )
        if other.keys.changes != changes:
            raise BergamotError(Errors.B096, name=other.name, linker=linker.name)
    return parts


def changed_dictionaries(
    linker: Component, before: LinkerParts, after: LinkerParts
) -> list[tuple[BergamotMentions, FileBundle]]:
    """Return the dictionaries of a linker's knowledge base, and what each is to hold now.

    before (Changes | None): The linker's changes until now.
    after (Changes | None): Those from now on.
    """
    names = list(dict.fromkeys(map(normalize, _concerned(before, after))))
    aliases = [*_concerned(before, after)]
    aliases += [name.alias for text in names for name in after.kb.named(text, removed=True)]
    was, now = ([n for text in names for n in of.kb.named(text)] for of in (before, after))
    entries = after.changes.entries if after.changes else []
    added = {entry["alias"] for entry in entries if entry["action"] == "add"}
    changes = after.changes.fingerprint if after.changes else None
    made = []
    for dictionary in dictionaries_beside(linker):
        if dictionary.keys.table == after.index.table.fingerprint:
            bundle = FileBundle.temporary()
            dictionary.keys.changed(bundle.path, aliases, was, now, added=added, changes=changes)
            made.append((dictionary, bundle))
    return made


def _concerned(*parts: LinkerParts) -> Iterator[str]:
    """Yield the aliases that were added or removed by the changes of some parts."""
    for changes in filter(None, (part.changes for part in parts)):
        yield from _aliases(changes, parts[0])


def _aliases(changes: Changes, parts: LinkerParts) -> Iterator[str]:
    table = parts.index.table
    for entry in changes.entries:
        if "alias" in entry:
            yield entry["alias"]
        else:
            row = table.row(entry["concept_id"])
            yield from table.rows_of("aliases", row)["alias"].to_pylist()
