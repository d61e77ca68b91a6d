"""Short forms that a document defines are mentions wherever they stand."""

from functools import partial
from pathlib import Path

import pytest
from spacy.tokens import Doc

from spacy_bergamot.languages import NAMES
from spacy_bergamot.mentions.language import guess
from spacy_bergamot.pipeline.build import build_pipeline
from tests.spacy_bergamot.conftest import write_concepts
from tests.spacy_bergamot.factories import matcher_of
from tests.work import lines_run

KNOWN = {
    "C01": ("T047", {"ENG": ["chronic obstructive pulmonary disease"],
                     "SPA": ["enfermedad pulmonar obstructiva"]}),
    "C02": ("T047", {"ENG": ["multiple sclerosis", "MUS"]}),
    "C03": ("T121", {"ENG": ["mustard seed", "helium"]}),
    "C04": ("T047", {"ENG": ["myocardial infarction", "COPD exacerbation"]}),
    "C05": ("T047", {"ENG": ["diabetes mellitus", "type 2 diabetes mellitus"]}),
    "C06": ("T121", {"ENG": ["heat shock protein 70", "interleukin 6"]}),
}  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_concepts(tmp_path_factory.mktemp("short") / "kb", KNOWN)


@pytest.fixture(scope="module")
def matcher(table: Path):
    return partial(matcher_of, table)


def short_forms(doc: Doc) -> list[tuple[str, int, str]]:
    return [(ent.text, ent.start_char, ent.label_) for ent in doc.ents if len(ent) == 1]


@pytest.mark.parametrize("lang", ["xx", "en"])
@pytest.mark.parametrize(
    ("text", "short", "label", "count"),
    [
        ("He has chronic obstructive pulmonary disease (COPD), her COPD worsened. COPD!",
         "COPD", "DISO", 3),
        ("Her COPD worsened: Chronic Obstructive Pulmonary Diseases (COPD).", "COPD", "DISO", 2),
        ("COPD (chronic obstructive pulmonary disease), no COPDs, no copd, no ACOPD.",
         "COPD", "DISO", 1),
        ("Tiene enfermedad pulmonar obstructiva (EPO). La EPO empeora.", "EPO", "DISO", 2),
        ("A diabetes mellitus type unknown; type 2 diabetes mellitus (DM) and DM.",
         "DM", "DISO", 2),
        ("It is heat shock protein 70 （HSP70）, and HSP70が多い.", "HSP70", "CHEM", 2),
        # Some of the long form is the name.
        ("An acute myocardial infarction (AMI). The AMI was silent.", "AMI", "DISO", 2),
        ("Very rare hereditary familial progressive diabetes mellitus (VRHFPDM), VRHFPDM.",
         "VRHFPDM", "DISO", 0),
        ("A diabetes mellitus clinic (DMC) and the DMC again.", "DMC", "DISO", 0),
        ("An anaplastic thing (AT), this AT is unknown.", "AT", "DISO", 0),
        # A word that the text has in lower case is one.
        ("We gave helium (He) and more. He liked it, he said.", "He", "CHEM", 0),
        ("We gave helium (He) and more He to her.", "He", "CHEM", 2),
    ],
)  # fmt: skip
def test_a_short_form_is_marked_where_its_long_form_is(matcher, lang, text, short, label, count):
    found = short_forms(matcher(lang)(text))
    assert [(of, called) for of, _, called in found if of == short] == [(short, label)] * count
    off = short_forms(matcher(lang, abbreviations=False, usual_abbreviations=False)(text))
    assert [of for of, _, _ in off if of == short] == []


def test_a_short_form_of_several_tokens(matcher):
    doc = matcher("en")("The interleukin 6 (IL-6) of IL-6, IL-60 and IL-6.")
    assert [ent.text for ent in doc.ents] == ["interleukin 6", "IL-6", "IL-6", "IL-6"]


def test_what_the_document_defines_goes_before_the_dictionary(matcher):
    assert short_forms(matcher()("MUS again")) == [("MUS", 0, "DISO")]
    text = "MUS and mustard seed (MUS)"
    assert short_forms(matcher()(text)) == [("MUS", 0, "CHEM"), ("MUS", 22, "CHEM")]


def test_a_longer_name_with_a_short_form_in_it_stays(matcher):
    text = "chronic obstructive pulmonary disease (COPD); COPD exacerbation"
    assert [ent.text for ent in matcher()(text).ents][1:] == ["COPD", "COPD exacerbation"]
    doc = matcher(spans_key="sc")(text)
    assert [span.text for span in doc.spans["sc"]][-2:] == ["COPD", "COPD exacerbation"]


def test_only_groups_that_are_asked_for(matcher):
    text = "chronic obstructive pulmonary disease (COPD), COPD; helium gas, helium (HEL), HEL"
    found = matcher(groups=["CHEM"])(text)
    assert [ent.text for ent in found.ents] == ["helium", "helium", "HEL", "HEL"]


def test_entities_that_are_there_stay(matcher):
    nlp = matcher()
    doc = nlp.make_doc("chronic obstructive pulmonary disease (COPD) and COPD")
    doc.ents = [doc.char_span(49, 53, label="MINE")]
    doc = nlp.get_pipe("bergamot_mentions")(doc)
    assert short_forms(doc) == [("COPD", 39, "DISO"), ("COPD", 49, "MINE")]


def test_a_short_form_has_the_concept_of_its_long_form(lm: Path):
    names = {
        "L1": ["chronic obstructive pulmonary disease"],
        "L2": ["mitral stenosis"],
        "L3": ["multiple sclerosis", "MS"],
    }
    nlp = build_pipeline(lm=lm, concepts=names, engine="exact", pooling="mean")
    text = "Chronic obstructive pulmonary disease (COPD), mitral stenosis (MS). COPD and MS grew."
    linked = [(ent.text, ent.kb_id_) for ent in nlp(text).ents if len(ent) == 1]
    assert linked == [("COPD", "L1"), ("MS", "L2"), ("COPD", "L1"), ("MS", "L2")]


USUAL = {
    "C1": ("T047", {"ENG": ["hypertension"], "FRE": ["hypertension"]}),
    "C2": ("T047", {"ENG": ["amyotrophic lateral sclerosis"]}),
    "C3": ("T121", {"ENG": ["type 2 diabetes mellitus"]}),
    "C4": ("T047", {"ENG": ["atrial fibrillation"], "CHI": ["心房颤动"]}),
    "C5": ("T060", {"ENG": ["blood pressure"], "CHI": ["血压"]}),
}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "en",
            "PMH: HTN, T2DM, COPD; no htn, HTNX.",
            [("HTN", "DISO"), ("T2DM", "CHEM"), ("htn", "DISO")],
        ),
        ("ru", "Ds: АГ.", [("АГ", "DISO")]),
        ("zh", "患者有房颤病史", [("房颤", "DISO")]),
        ("ja", "ショックとＡＬＳ", [("ＡＬＳ", "DISO")]),
        ("de", "HTN", []),
        ("de", "ALS seit 2019, besser ALS Fieber", [("ALS", "DISO")] * 2),
        ("de", "BESSER ALS FIEBER", []),
        ("de", "PVHF VHF AHT", [("VHF", "DISO")]),
        # What is measured, and its value; other names have numbers too.
        ("zh", "查体:BP130/80mmHg,BP7", [("BP", "PROC")]),
        ("en", "BP120/80, XBP120/80, HTN22", [("BP", "PROC")]),
        # A particle may stand behind it.
        ("ko", "BP는 130, HTN으로 내원", [("BP", "PROC"), ("HTN", "DISO")]),
    ],
)
def test_short_forms_of_clinical_notes_are_marked(tmp_path, language, text, expected):
    write_concepts(tmp_path / "kb", USUAL)
    for settings, found in ({}, expected), ({"usual_abbreviations": False}, []):
        nlp = matcher_of(tmp_path / "kb", **settings)
        doc = nlp.make_doc(text)
        doc.user_data["language"] = language
        doc = nlp.get_pipe("bergamot_mentions")(doc)
        assert [(ent.text, ent.label_) for ent in doc.ents] == found


def test_a_note_of_abbreviations_has_those_of_its_likeliest_language(tmp_path):
    """Its few words do not surely tell the language."""
    others = {code: ("T047", {"ENG": [f"{code} x"], code: [f"{code} y"]}) for code in NAMES}
    table = USUAL | others
    write_concepts(tmp_path / "kb", table)
    nlp = matcher_of(tmp_path / "kb")
    text = "В анамнезе: ГБ 3 ст, ИБС, ПИКС 2018, ХСН IIА, ФП, СД 2 типа. Поступил с ОКС."
    codes, sure = guess(text, tuple(NAMES))
    assert (codes, sure) == (["RUS"], False)
    assert "ФП" in [ent.text for ent in nlp(text).ents]


def test_work_grows_with_the_length_of_a_text(matcher):
    nlp = matcher()
    pipe = nlp.get_pipe("bergamot_mentions")
    work = []
    for count in (50, 400):
        forms = [f"X{number:05}DM" for number in range(count)]
        defined = "".join(f"x{form[1:6]} diabetes mellitus ({form}), " for form in forms)
        text = defined + " ".join(forms * 5)
        doc = nlp.make_doc(text)
        work.append(lines_run(lambda doc=doc: pipe(doc)))
        assert sum(len(ent) == 1 for ent in doc.ents) == 6 * count
    # Eight times the text: 64 times the work if it were quadratic.
    assert work[1] < 10 * work[0]
