"""What a text says of a mention, such as that there is none, is in what is written of it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span

from spacy_bergamot.output.assertions import EXTENSIONS, attributes_of
from spacy_bergamot.output.exporters import to_bigbio, to_brat, to_dict, to_fhir, to_html
from tests.spacy_bergamot.factories import invoke, rows_of, write_rows
from tests.spacy_bergamot.output.shapes import DocumentReference, Page, facts_of

TEXT = "No fever, a heart attack, and maybe diabetes."
STATUS = "http://terminology.hl7.org/CodeSystem/condition-ver-status"


@pytest.fixture
def extension() -> Iterator[Callable[..., None]]:
    """Register an extension of spans for the time of a test."""
    made: list[str] = []

    def register(name: str, **options: object) -> None:
        assert not Span.has_extension(name)
        Span.set_extension(name, **options)
        made.append(name)

    yield register
    for name in made:
        Span.remove_extension(name)


@pytest.fixture
def doc(nlp: Language, extension: Callable[..., None]) -> Doc:
    for name in ("is_negated", "is_historical", "is_family", "is_uncertain"):
        extension(name, default=False)
    doc = nlp(TEXT)
    fever, attack, diabetes = doc.ents
    fever._.is_negated = True
    attack._.is_historical = attack._.is_family = True
    diabetes._.is_uncertain = True
    return doc


def test_attributes_are_in_every_form_that_has_a_place_for_them(nlp: Language, doc: Doc):
    entities = to_dict(doc)["ents"]
    expected = [["negated"], ["historical", "family"], ["uncertain"]]
    assert [entity["attributes"] for entity in entities] == expected
    lines = [line for line in to_brat(doc).splitlines() if line[0] == "A"]
    assert lines == ["A1\tNegated T1", "A2\tHistorical T2", "A3\tFamily T2", "A4\tUncertain T3"]
    tags = Page(to_html([doc])).tags
    assert [tag.split(" · ")[3:] for tag in tags] == expected
    assert len(to_bigbio(doc, "1")["entities"]) == 3


def test_fhir_says_it_in_the_words_of_a_condition_where_it_has_them(nlp: Language, doc: Doc):
    resource = to_fhir(doc, nlp.get_pipe("bergamot_linker").kb)
    DocumentReference.model_validate(resource)
    mentions = [mention["extension"] for mention in resource["extension"]]
    said = [[fact["valueCode"] for fact in of if fact["url"] == "attribute"] for of in mentions]
    assert said == [["negated"], ["historical", "family"], ["uncertain"]]
    statuses = [facts_of(mention).get("verificationStatus") for mention in resource["extension"]]
    assert statuses == [
        {"coding": [{"system": STATUS, "code": "refuted"}]},
        None,
        {"coding": [{"system": STATUS, "code": "unconfirmed"}]},
    ]


def test_where_nothing_is_said_nothing_is_written(nlp: Language):
    doc = nlp(TEXT)
    assert all("attributes" not in entity for entity in to_dict(doc)["ents"])
    assert not any(line.startswith("A") for line in to_brat(doc).splitlines())
    resource = to_fhir(doc, nlp.get_pipe("bergamot_linker").kb)
    assert not {"attribute", "verificationStatus"} & facts_of(resource["extension"][0]).keys()


@pytest.mark.parametrize(
    ("name", "extensions"), [(name, of) for name, several in EXTENSIONS.items() for of in several]
)
def test_extensions_of_several_packages_are_known(nlp, extension, name: str, extensions: str):
    extension(extensions, default=None)
    span = nlp(TEXT).ents[0]
    assert attributes_of(span) == []
    for value, expected in ((True, [name]), (False, []), ("PRESENT", [])):
        span._.set(extensions, value)
        assert attributes_of(span) == expected


def test_an_extension_may_be_computed(nlp, extension):
    extension("negation", getter=lambda span: span.text == "fever")
    assert [attributes_of(span) for span in nlp(TEXT).ents] == [["negated"], [], []]


def test_spans_of_a_group_have_attributes(nlp: Language, extension):
    extension("negex", default=False)
    doc = nlp(TEXT)
    doc.spans["sc"] = [doc[1:2], doc[3:4]]
    doc.spans["sc"][0]._.negex = True
    assert [e.get("attributes") for e in to_dict(doc, spans_key="sc")["ents"]] == [
        ["negated"],
        None,
    ]


def test_attributes_outlive_a_file_where_nobody_knows_the_extension(
    nlp: Language, saved: Path, tmp_path: Path
):
    doc = nlp(TEXT)
    attack = doc.ents[1]
    doc.user_data["._.", "is_negated", attack.start_char, attack.end_char] = True
    doc.user_data["._.", "is_family", 0, len(TEXT)] = True  # of another span
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "o.spacy")
    assert not Span.has_extension("is_negated")
    invoke("export", saved, tmp_path / "o.spacy", tmp_path / "o.jsonl")
    (row,) = rows_of(tmp_path / "o.jsonl")
    assert [entity.get("attributes") for entity in row["ents"]] == [None, ["negated"], None]
    invoke("export", saved, tmp_path / "o.spacy", tmp_path / "brat", "--format", "brat")
    assert "A1\tNegated T2\n" in next((tmp_path / "brat").glob("*.ann")).read_text("utf8")


@Language.component("graph_of_spans")
def graph_of_spans(doc: Doc) -> Doc:
    """Keep what no file can hold, as ConText does."""
    doc.user_data["._.", "context_graph", None, None] = set(doc.ents)
    doc.user_data["._.", "is_negated", doc.ents[0].start_char, doc.ents[0].end_char] = True
    return doc


def test_what_no_file_can_hold_is_left_out(nlp: Language, tmp_path: Path):
    nlp.add_pipe("graph_of_spans")
    try:
        nlp.to_disk(tmp_path / "pipeline")
    finally:
        nlp.remove_pipe("graph_of_spans")
    source = write_rows(tmp_path / "in.jsonl", {"id": "a", "text": TEXT})
    result = invoke("link", tmp_path / "pipeline", source, tmp_path / "o.spacy")
    assert "context_graph" in result.output
    (doc,) = DocBin().from_disk(tmp_path / "o.spacy").get_docs(nlp.vocab)
    assert (doc.user_data["id"], attributes_of(doc.ents[0])) == ("a", ["negated"])
    assert doc.ents[0].kb_id_ == "C10"


def test_code_of_the_user_is_imported_before_the_pipeline(saved: Path, tmp_path: Path):
    config = saved / "config.cfg"
    text = config.read_text("utf8").replace('"bergamot_linker"]', '"bergamot_linker","denies_all"]')
    config.write_text(text + '\n[components.denies_all]\nfactory = "denies_all"\n', "utf8")
    (saved / "manifest.json").unlink(missing_ok=True)
    source = write_rows(tmp_path / "in.jsonl", {"text": TEXT})
    output = invoke("link", saved, source, tmp_path / "o.jsonl", status=1).output
    assert "B120" in output
    assert "'denies_all'" in output
    code = tmp_path / "mine.py"
    code.write_text("import no_such_module\n", "utf8")
    output = invoke("link", saved, source, tmp_path / "o.jsonl", "--code", code, status=1).output
    assert "B119" in output
    assert "no_such_module" in output
    code.write_text(
        "from spacy.language import Language\n"
        "@Language.component('denies_all')\n"
        "def denies_all(doc):\n"
        "    for ent in doc.ents:\n"
        "        doc.user_data['._.', 'is_negated', ent.start_char, ent.end_char] = True\n"
        "    return doc\n",
        "utf8",
    )
    for command in ("link", "export"):
        invoke(command, saved, source, tmp_path / "o.spacy", "--code", code)
        source = tmp_path / "o.spacy"
    invoke("export", saved, source, tmp_path / "o.jsonl", "--code", code)
    (row,) = rows_of(tmp_path / "o.jsonl")
    assert [entity["attributes"] for entity in row["ents"]] == [["negated"]] * 3


def test_context_behind_the_linker(saved: Path):
    pytest.importorskip("medspacy", reason="medspaCy wants an older spaCy: see docs/howto/ner.md")
    import spacy

    nlp = spacy.load(saved)
    nlp.add_pipe("sentencizer", first=True)
    nlp.add_pipe("medspacy_context")
    doc = nlp(
        "Denies fever. Mother had diabetes mellitus. History of hypertension. "
        "Possible heart attack. Return if fever. The heart is sound."
    )
    assert [(ent.text, ent.kb_id_, attributes_of(ent)) for ent in doc.ents] == [
        ("fever", "C10", ["negated"]),
        ("diabetes mellitus", "C02", ["family"]),
        ("hypertension", "C01", ["historical"]),
        ("heart attack", "C03", ["uncertain"]),
        ("fever", "C10", ["hypothetical"]),
        ("heart", "C06", []),
    ]
