"""Error analysis: how many mentions are missed, why, and examples."""

from collections.abc import Iterator, Sequence

from training.corpora.schema import GoldMention
from training.evaluate.hierarchy import Hierarchy
from training.evaluate.metrics import tabulate
from training.evaluate.ranking import Ranked
from training.evaluate.report.analysis import OUTCOMES, TRAITS, Miss, mention_traits, misses
from training.evaluate.report.blocks import Block, Heading, Table, Text
from training.evaluate.results import Results
from training.evaluate.systems import shows_concepts

_EXAMPLES = 5
_OF_NAMES = "ambiguous alias"  # not told of systems that show concepts, not names
_OF_CONCEPTS = TRAITS[:3]  # not told without a concept table
_MEANINGS = {
    "not retrieved": "no gold concept is among the first {k}",
    "ambiguous alias": "the alias found names the gold concept too (systems by concept: not told)",
    "ranked low": "the gold concept is behind another",
    "parent predicted": "the prediction is right above the gold concept",
    "child predicted": "the prediction is right below the gold concept",
    "wrong type": "the prediction shares no semantic type with the gold concept",
    "abbreviation": "the mention has 2 to 6 characters, mostly capitals",
    "multi-word": "the mention has three words or more",
}
"""Outcomes, one of which every miss has, and traits."""


def errors(results: Results, hierarchy: Hierarchy | None) -> Iterator[Block]:
    """How many mentions each system misses and why, and examples of the best system."""
    queries, systems = results.of_protocol(results.choices.protocols[0])
    golds = results.choices.golds
    found = {name: misses(queries, ranked, golds, hierarchy) for name, ranked in systems.items()}
    kinds = [
        kind for kind in (*OUTCOMES, *TRAITS) if any(_count(of, kind) for of in found.values())
    ]
    pipelines = results.facts.get("pipelines", {})
    of_concepts = {name for name in found if shows_concepts(name, pipelines)}
    yield Heading("Error analysis")
    yield Text(
        "Mentions whose first concept is wrong. Each is one of the kinds "
        f"{', '.join(OUTCOMES[:-1])} and {OUTCOMES[-1]}; the other kinds may go together."
        + _absent(kinds, told=hierarchy is not None)
    )
    rows = [("missed", *(str(len(missed)) for missed in found.values()))]
    rows += [
        (
            f"{kind}: {_MEANINGS[kind].format(k=results.choices.k)}",
            *(
                "–" if name in of_concepts and kind == _OF_NAMES else str(_count(missed, kind))
                for name, missed in found.items()
            ),
        )
        for kind in kinds
    ]
    yield Table(("kind of miss", *found), rows)
    yield _by_trait(queries, systems, golds)
    best = min(found, key=lambda name: len(found[name]))
    for outcome in OUTCOMES:
        examples = [miss for miss in found[best] if miss.outcome == outcome]
        if examples:
            yield Heading(f"{best}: {outcome}", 3)
            yield _examples(examples, queries, hierarchy)


def _by_trait(
    queries: Sequence[GoldMention], systems: dict[str, list[Ranked]], golds: str
) -> Table:
    kinds = ["abbreviation", "multi-word", "other"]
    tables = {
        name: tabulate(
            queries, ranked, golds=golds,
            group_of=lambda query: next(iter(mention_traits(query.mention)), "other"),
        )
        for name, ranked in systems.items()
    }  # fmt: skip
    first = next(iter(tables.values()))
    rows = [
        (kind, str(first[kind]["n"]), *(f"{table[kind]['acc@1']:.1f}" for table in tables.values()))
        for kind in kinds
        if kind in first
    ]
    return Table(("mentions", "n", *tables), rows, "Acc@1 by kind of mention, %")


def _examples(
    missed: Sequence[Miss], queries: Sequence[GoldMention], hierarchy: Hierarchy | None
) -> Table:
    """Show examples spread evenly over the sets' order."""
    step = max(1, len(missed) // _EXAMPLES)
    rows = [
        (
            queries[miss.query].mention,
            queries[miss.query].group,
            _concept(miss.gold, hierarchy),
            str(miss.rank or "–"),
            _concept(miss.predicted, hierarchy) if miss.predicted else "nothing",
            miss.alias,
            f"{miss.score:.3f}" if miss.predicted else "–",
            ", ".join(miss.traits),
        )
        for miss in missed[::step][:_EXAMPLES]
    ]
    columns = ("mention", "set", "gold", "its rank", "predicted", "by the alias", "score", "traits")
    return Table(columns, rows)


def _concept(concept_id: str, hierarchy: Hierarchy | None) -> str:
    name = hierarchy.name(concept_id) if hierarchy is not None else concept_id
    return concept_id if name == concept_id else f"{name} ({concept_id})"


def _count(missed: Sequence[Miss], kind: str) -> int:
    return sum(miss.outcome == kind or kind in miss.traits for miss in missed)


def _absent(kinds: Sequence[str], *, told: bool) -> str:
    """Say which kinds no miss is of, and which cannot be told."""
    untold = [] if told else list(_OF_CONCEPTS)
    none = [kind for kind in (*OUTCOMES, *TRAITS) if kind not in (*kinds, *untold)]
    said = f" None is: {', '.join(none)}." if none else ""
    if untold:
        said += f" Not told without a concept table: {', '.join(untold)}."
    return said
