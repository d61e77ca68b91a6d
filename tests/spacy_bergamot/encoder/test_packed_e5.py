"""The weights' file: every tensor is read as it was written, and another layout is refused."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_bergamot.encoder.packed_e5 import read_packed, unpack_4_bits
from spacy_bergamot.errors import BergamotError
from tests.spacy_bergamot.encoder.packed_files import HIDDEN, LAYERS

BLOCK = st.tuples(
    st.integers(-8, 8).map(lambda number: number / 64),
    st.lists(st.integers(0, 15), min_size=32, max_size=32),
)


def test_tensors_come_back(packed):
    model = read_packed(packed[0])
    assert (model.sizes.hidden, model.sizes.layers) == (HIDDEN, LAYERS)
    assert model.tensors.keys() == packed[1].keys()
    for name, expected in packed[1].items():
        np.testing.assert_allclose(model.tensors[name], expected.ravel(), atol=1e-6, err_msg=name)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.3, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(packed, tmp_path: Path, share: float):
    data = packed[0].read_bytes()
    (tmp_path / "short.bin").write_bytes(data[: int(share * len(data))])
    with pytest.raises(BergamotError, match="B118"):
        read_packed(tmp_path / "short.bin")


def test_a_longer_file_is_refused(packed, tmp_path: Path):
    (tmp_path / "long.bin").write_bytes(packed[0].read_bytes() + b"x")
    with pytest.raises(BergamotError, match="B118"):
        read_packed(tmp_path / "long.bin")


@given(st.lists(BLOCK, max_size=3))
def test_a_block_of_4_bits_is_its_scale_times_each_number_less_8(blocks):
    data = b""
    for scale, bits in blocks:
        data += np.float16(scale).tobytes()
        data += bytes(low | high << 4 for low, high in zip(bits[:16], bits[16:], strict=True))
    expected = [scale * (bit - 8) for scale, bits in blocks for bit in bits]
    assert unpack_4_bits(data).tolist() == expected
