"""The model card as Markdown, and the licences of the sources as plain text."""

from collections.abc import Iterator, Mapping
from typing import Any

from spacy_bergamot.languages import LANGUAGES, iso
from spacy_bergamot.output.pages import templates
from training.evaluate.report.blocks import PACKAGE, Block, Heading, Table, Text

MARK = "<!-- Written by `python -m training card`; it is replaced when that runs again. -->"
LICENCES_MARK = "Sources of the names in this pipeline"

_TEMPLATES = templates("training.card", PACKAGE)
_ALL = {"micro": "all mentions", "macro": "mean of the groups"}
_NOTHING = "not said"
_SHORT = {code: iso(code) for code in LANGUAGES.values()}

Facts = Mapping[str, Any]


def readme(meta: Mapping[str, Any], facts: Facts) -> str:
    """Return README.md.

    meta (Mapping[str, Any]): The completed meta.json. facts (Mapping[str, Any]): See `run`.
    """
    package = f"{meta['lang']}_{meta['name']}"
    blocks: list[Block] = [Text(_head(meta))]
    for part in (_knowledge, _sources, _languages, _recall, _calibration, _model, _speed, _limits):
        blocks += part(facts)
    return _TEMPLATES.get_template("card.md").render(
        mark=MARK,
        title=f"{package} {meta['version']}",
        description=meta["description"],
        package=package,
        example=repr(facts["example"]),
        blocks=blocks,
    )


def licences(facts: Facts) -> str:
    """Return LICENSES_SOURCES: what each source asks for."""
    sources = facts["knowledge_base"]["sources"]
    template = _TEMPLATES.get_template("licences.txt")
    return template.render(mark=LICENCES_MARK, sources=sources, nothing=_NOTHING)


def _head(meta: Mapping[str, Any]) -> str:
    pipes = ", ".join(meta.get("pipeline", []))
    licence = meta.get("license") or _NOTHING
    return f"Components: {pipes}. spaCy {meta.get('spacy_version', '')}. Licences: {licence}."


def _knowledge(facts: Facts) -> Iterator[Block]:
    known = facts["knowledge_base"]
    share = known["typed_concepts"] / max(1, known["concepts"])
    yield Heading("Knowledge base")
    rows = [
        ("concepts", f"{known['concepts']:,}"),
        ("names", f"{known['names']:,}; {known['distinct_names']:,} distinct in normal form"),
        ("concepts with a semantic type", f"{known['typed_concepts']:,} ({share:.0%})"),
        ("concepts with a definition", f"{known['definitions']:,}"),
        ("relations", f"{known['relations']:,}"),
    ]
    if known["groups"]:
        groups = ", ".join(f"{name} {count:,}" for name, count in known["groups"].items())
        rows.append(("concepts by semantic group", groups))
    if "changes" in known:
        counts = known["changes"]
        rows.append(("changed since", f"{counts['added']} added, {counts['removed']} removed"))
    yield Table(("what", "count"), rows)


def _sources(facts: Facts) -> Iterator[Block]:
    sources = facts["knowledge_base"]["sources"]
    rows = [
        (
            f"{s['name']} ({s['source']})" if s["name"] != s["source"] else s["name"],
            s["version"] or _NOTHING,
            (s["licence"] or _NOTHING) + ("†" if s["licence"] and s["by"] == "table" else ""),
            f"{s['names']:,}",
            s["address"],
        )
        for s in sources
    ]
    yield Heading("Sources", 3)
    yield Table(("source", "version", "licence", "names", "address"), rows)
    if any(s["licence"] and s["by"] == "table" for s in sources):
        yield Text("† The release does not say it; it is the licence that the source is known by.")
    for source in sources:
        if "thanks" in source:
            yield Text(source["thanks"])


def _languages(facts: Facts) -> Iterator[Block]:
    yield Heading("Languages", 3)
    rows = [(_language(code), f"{n:,}") for code, n in facts["knowledge_base"]["languages"].items()]
    yield Table(("language", "names"), rows)


def _language(code: str) -> str:
    return f"{code} ({_SHORT[code]})" if code in _SHORT else _ALL.get(code, code)


def _recall(facts: Facts) -> Iterator[Block]:
    recall = facts["recall"]
    yield Heading("Recall of the gold concept")
    if "groups" not in recall:
        yield Text(f"Not measured: {recall['reason']}.")
        return
    dictionary, beside = recall["dictionary"], recall["beside"]
    yield Text(
        f"Recall@1 and recall@5 in percent of {recall['mentions']:,} mentions among "
        f"{dictionary.get('names', 0):,} names of {dictionary.get('concepts', 0):,} concepts "
        f"({recall['protocol']} set), with 95 % bootstrap intervals where there are any. "
        f"Measured: the {recall['kind']}, as “{recall['system']}”."
        + (
            " It alone; the pipeline puts its other generators beside it."
            if recall["kind"] == "language model"
            else f" {recall['own_names']:.0%} of the mentions are names of the pipeline itself"
            + (f", after {recall['hidden']:,} were hidden from it." if recall["hidden"] else ".")
        )
    )
    rows = [
        (
            _language(group),
            f"{row['n']:,}",
            *(_share(row, f"recall@{k}") for k in (1, 5)),
            *(
                " / ".join(f"{100 * table[group][f'recall@{k}']:.1f}" for k in (1, 5))
                for table in beside.values()
            ),
        )
        for group, row in recall["groups"].items()
    ]
    yield Table(("group", "n", "recall@1", "recall@5", *(f"{n}: @1 / @5" for n in beside)), rows)


def _share(row: Mapping[str, float], key: str) -> str:
    if key not in row:
        return ""
    text = f"{100 * row[key]:.1f}"
    if f"{key}_low" in row:
        text += f" ({100 * row[f'{key}_low']:.1f}–{100 * row[f'{key}_high']:.1f})"
    return text


def _calibration(facts: Facts) -> Iterator[Block]:
    found = facts["calibration"]
    yield Heading("Calibration")
    if not found:
        yield Text(
            "Not calibrated: scores are similarities, not probabilities. "
            "python -m spacy bergamot calibrate makes them so."
        )
        return
    yield Text(
        f"Fitted to {found['mentions']:,} gold mentions; expected calibration error "
        f"{found['ece']:.3f}, of the plain scores {found['ece_of_scores']:.3f}, both on mentions "
        "that were not fitted on."
    )
    rows = [
        (
            f"{float(wanted):.0%}",
            f"{entry['probability']:.4f}" if entry else "none reaches it",
            f"{entry['linked']:.0%}" if entry else "",
        )
        for wanted, entry in found["thresholds"].items()
    ]
    yield Table(("precision wanted", "min_probability", "mentions linked"), rows)


def _model(facts: Facts) -> Iterator[Block]:
    lm, index, size = facts["language_model"], facts["index"], facts["size"]
    layers = f"{lm['layers']} layers, " if lm["layers"] else ""
    rows = [
        ("base", lm.get("base", _NOTHING)),
        ("architecture", f"{lm['architecture']}, {layers}{lm['width']} wide"),
        (
            "parameters",
            f"{lm['parameters']:,}, of which {lm['embedding_parameters']:,} are word embeddings",
        ),
        ("vocabulary", f"{lm['vocabulary']:,} tokens"),
        ("weights on disk; when run", f"{lm['dtype']}; {lm['precision']} on {lm['device']}"),
        ("a name's vector", f"{lm['pooling']} of at most {lm['max_tokens']} tokens"),
        ("objectives", _objectives(lm)),
        ("steps", f"{lm['steps']:,}{_batch(lm)}" if "steps" in lm else _NOTHING),
        ("index", f"{index['engine']}: {index['vectors']:,} vectors of {index['width']}"),
        (
            "size on disk",
            f"{mib(size['whole'])}: language model {mib(size['language_model'])}, "
            f"index {mib(size['index'])}",
        ),
    ]
    yield Heading("Language model and index")
    yield Table(("what", "value"), rows)


def _objectives(lm: Mapping[str, Any]) -> str:
    found = lm.get("objectives", {})
    return ", ".join(f"{name} (weight {weight:g})" for name, weight in found.items()) or _NOTHING


def _batch(lm: Mapping[str, Any]) -> str:
    return f" of {lm['batch']:,} pairs" if "batch" in lm else ""


def mib(count: int) -> str:
    """Return bytes in words, such as 12.3 MiB."""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"


def _speed(facts: Facts) -> Iterator[Block]:
    speed = facts["speed"]
    yield Heading("Speed")
    if not speed:
        yield Text("Not measured: too few names, or it was not asked for.")
        return
    on_cpu = speed["device"] == "cpu"
    kind, where = ("of processor time ", "") if on_cpu else ("", f"{speed['device']} and ")
    yield Text(
        f"Milliseconds {kind}a mention, {speed['mentions']} one by one on {where}one core "
        f"({speed['processor']}): new ones, which the language model encodes, and names that the "
        "knowledge base has."
    )
    rows = [
        (name, *(f"{speed[f'{key}_ms_{p}']:.2f}" for p in ("p50", "p95")))
        for name, key in (("new mention", "new"), ("known name", "known"))
    ]
    yield Table(("mention", "median", "95th percentile"), rows)


def _limits(facts: Facts) -> Iterator[Block]:
    yield Heading("Limits")
    for text in facts["limits"]:
        yield Text(f"- {text}")
