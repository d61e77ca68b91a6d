"""What of an evaluation is shown: sets by the names of their languages, nothing that must be 0."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from spacy_bergamot.languages import NAMES, NO_LANGUAGE, lat
from training.evaluate.results import Results

UNSAID = "not said"


def language_name(code: str) -> str:
    """Return a language's name in English, the code of one that has none here."""
    return UNSAID if code.lower() in NO_LANGUAGE else NAMES.get(lat(code), code)


def set_names(results: Results) -> dict[str, str]:
    """Return the name to show of every set: that of its language where its own is but a code.

    Sets that would be called the same keep their own names.
    """
    names = {}
    for query in results.queries:
        above, slash, code = query.group.rpartition("/")
        is_code = code in NAMES or (code == query.language and code not in NO_LANGUAGE)
        names[query.group] = f"{above}{slash}{language_name(code) if is_code else code}"
    return names if len(set(names.values())) == len(names) else {name: name for name in names}


def silent(results: Results, protocol: str) -> list[str]:
    """Return the systems that find nothing for any mention of a protocol, unless all are such.

    So does exact match where no mention is a name of the dictionary: all of its figures are 0.
    """
    _, systems = results.of_protocol(protocol)
    found = [
        name for name, ranked in systems.items() if not any(entry.concepts for entry in ranked)
    ]
    return found if len(found) < len(systems) else []


def shown_results(results: Results) -> Results:
    """Return results under the names to show, without systems silent in the first protocol."""
    names = set_names(results)
    hidden = silent(results, results.choices.protocols[0])
    return replace(
        results,
        queries=[replace(query, group=names[query.group]) for query in results.queries],
        systems={name: of for name, of in results.systems.items() if name not in hidden},
    )


def shown_figures(figures: Mapping[str, Any], results: Results) -> dict[str, Any]:
    """Return the figures of results under the names to show; "silent" has who was left out."""
    names = set_names(results)
    first, *further = results.choices.protocols
    hidden = silent(results, first)
    return {
        **figures,
        **_part(figures, names, hidden),
        "further_protocols": {
            protocol: _part(
                figures["further_protocols"][protocol], names, silent(results, protocol)
            )
            for protocol in further
        },
        "nil": {name: row for name, row in figures["nil"].items() if name not in hidden},
    }


def _part(
    part: Mapping[str, Any], names: Mapping[str, str], hidden: Collection[str]
) -> dict[str, Any]:
    return {
        **part,
        "silent": list(hidden),
        "systems": {
            system: {names.get(group, group): row for group, row in table.items()}
            for system, table in part["systems"].items()
            if system not in hidden
        },
        "comparisons": [
            pair for pair in part["comparisons"] if not {pair["one"], pair["other"]} & set(hidden)
        ],
    }
