"""Lines and JSON that people give: what is wrong, and in which line."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.inputs import Malformed, decoded_lines, parsed

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc"), inner),
)


@given(values, st.booleans())
def test_what_files_can_hold_is_read(value: object, ascii_only: bool):
    assert parsed(json.dumps(value, ensure_ascii=ascii_only)) == value


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('{"a": 1,\n"b"}', 8, "delimiter"),
        ('["a",\n\n"\\uD83D"]', 9, r"\\ud83d is half"),
        ('["\\ud83d\\ude00 \\ude00"]', 7, r"\\ude00 is half"),
        ("[1,\n1e309]", 8, "1e309 is not finite"),
        ("[-Infinity]", 7, "-Infinity is not finite"),
        ("[NaN]", 7, "NaN is not finite"),
        ("[" * 100_000, 7, "nested"),
        ("1" * 5000, 7, "limit"),
        ("", 7, "value"),
    ],
)
def test_what_they_cannot_hold_is_refused_with_its_line(text: str, line: int, reason: str):
    with pytest.raises(Malformed, match=reason) as raised:
        parsed(text, 7)
    assert raised.value.line == line


def test_a_written_backslash_is_no_escape():
    assert parsed(r'["\\ud800"]') == [r"\ud800"]


def test_lines_end_at_line_feeds_alone_and_lose_the_mark():
    data = b"\xef\xbb\xbfa\x0c\xc2\x85b\r\n\nc\xe2\x80\xa8d"
    lines = list(decoded_lines(io.BytesIO(data)))
    assert lines == [(1, "a\x0c\x85b"), (2, ""), (3, "c\u2028d")]
    assert "".join(line for _, line in decoded_lines(io.BytesIO(data), ends=True)).endswith("d")
    with pytest.raises(Malformed, match="0xff") as raised:
        list(decoded_lines(io.BytesIO(b"a\nb\xff\n")))
    assert raised.value.line == 2
