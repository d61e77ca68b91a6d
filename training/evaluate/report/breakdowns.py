"""Accuracy by language and by entity type, where the sets say them."""

from collections.abc import Callable, Iterator
from typing import Any

from training.corpora.schema import GoldMention
from training.evaluate.metrics import tabulate
from training.evaluate.report.blocks import Block, Figures, Heading, Text
from training.evaluate.report.charts import interval_chart
from training.evaluate.report.tables import accuracy_tables
from training.evaluate.report.view import UNSAID, language_name
from training.evaluate.results import Results

_AVERAGES = ("macro", "micro")


def by_language(results: Results) -> Iterator[Block]:
    """Draw Acc@1 of every system by language, over its table unless the sets are languages."""
    tables = _tabulated(results, lambda query: language_name(query.language))
    if not tables:
        return
    yield Heading("By language")
    lines = {
        name: {
            group: (row["acc@1"], row.get("acc@1_low", row["acc@1"]),
                    row.get("acc@1_high", row["acc@1"]))
            for group, row in table.items()
            if group not in _AVERAGES
        }
        for name, table in tables.items()
    }  # fmt: skip
    drawing = interval_chart("Acc@1 by language", lines, x_label="Acc@1, % (95 % interval)")
    yield Figures(
        (drawing,),
        f"Acc@1 of each language, with its 95 % bootstrap interval, protocol "
        f"{results.choices.protocols[0]}.",
    )
    if all(language_name(query.language) == query.group for query in results.queries):
        yield Text("The figures are those of the sets, which are the languages.")
    else:
        yield from accuracy_tables(tables, by="language")


def by_type(results: Results) -> Iterator[Block]:
    """Acc@1 and Acc@5 by entity type."""
    tables = _tabulated(results, lambda query: query.type or UNSAID)
    if tables:
        yield Heading("By type")
        yield from accuracy_tables(tables, by="type")


def _tabulated(results: Results, key: Callable[[GoldMention], str]) -> dict[str, Any]:
    """Tabulate every system by a property of mentions; nothing where all have the same."""
    queries, systems = results.of_protocol(results.choices.protocols[0])
    if len({key(query) for query in queries if query.concepts}) < 2:
        return {}
    choices = results.choices
    return {
        name: tabulate(queries, ranked, golds=choices.golds, samples=choices.samples, group_of=key)
        for name, ranked in systems.items()
    }
