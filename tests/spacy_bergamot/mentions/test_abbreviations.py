import pytest

from spacy_bergamot.mentions.abbreviations import find_abbreviations
from tests.work import CountedText, lines_run


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "He has chronic obstructive pulmonary disease (COPD) and COPD again.",
            {"COPD": "chronic obstructive pulmonary disease"},
        ),
        ("COPD (chronic obstructive pulmonary disease)",
         {"COPD": "chronic obstructive pulmonary disease"}),
        ('a “heart attack” (HA), fever, (FR)', {"HA": "heart attack", "FR": "fever"}),
        ("una hipertensión arterial (HTA) grave", {"HTA": "hipertensión arterial"}),
        ("у него артериальная гипертензия (АГ)", {"АГ": "артериальная гипертензия"}),
        ("Myokardinfarkt(MI) und Herzinsuffizienz (HI; chronisch)",
         {"MI": "Myokardinfarkt", "HI": "Herzinsuffizienz"}),
        ("heat shock protein 70 （HSP70）", {"HSP70": "heat shock protein 70"}),
        ("the dose (5 mg) was given (see below) to patients (n = 12)", {}),
        ("nothing here (XYZ)", {}),
        ("", {}),
        ("((((", {}),
        ("(COPD)", {}),
    ],
)  # fmt: skip
def test_short_forms_that_a_text_defines(text: str, expected: dict[str, str]):
    assert find_abbreviations(text) == expected


def test_a_long_text_takes_no_long_time():
    text = "word " * 200_000 + "(" * 1000 + "AB) " * 1000
    assert find_abbreviations(text) == {}


@pytest.mark.parametrize(
    "piece", ["pain of the chest (see below) and ", "heart attack (HA) ", "(", "(a)", " \n"]
)
def test_work_grows_with_the_length_of_a_text(piece):
    work = []
    for size in (2000, 16_000):
        text = CountedText((piece * size)[:size] + " (ab c)")
        lines = lines_run(lambda text=text: find_abbreviations(text))
        work.append(lines + text.taken)
    # Eight times the text: 64 times the work if it were quadratic.
    assert work[1] < 10 * work[0]
