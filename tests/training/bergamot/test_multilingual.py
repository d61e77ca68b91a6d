"""Training that starts from the multilingual base."""

from pathlib import Path

from confection import Config

from spacy_bergamot.encoder.text_encoder import TextEncoder
from tests.spacy_bergamot.encoder.packed_files import write_packed
from training.bergamot.run import train


def test_it_trains_with_frozen_word_embeddings(config: Config, tmp_path: Path):
    write_packed(tmp_path / "weights.bin")
    config["text_encoder"] = {
        "@text_encoders": "multilingual_e5.v1",
        "path": str(tmp_path / "weights.bin"),
        "sha256": None,
    }
    config["training"]["word_embeddings"] = "frozen"
    lm = train(config)
    before, after = (TextEncoder.open(path).model for path in (lm.parent / "base", lm))
    words = "embeddings.word_embeddings.weight"
    assert before.state_dict()[words].equal(after.state_dict()[words])
    query = "encoder.layer.0.attention.self.query.weight"
    assert not before.state_dict()[query].equal(after.state_dict()[query])
