"""A stand-in for the package that `make run` makes: its names, a small random language model."""

from importlib import invalidate_caches
from pathlib import Path

from spacy_bergamot import build_pipeline
from spacy_bergamot.kb_import.build import table_of
from tests.plain_models import write_xlmr
from tests.spacy_bergamot.factories import invoke

NAME, VERSION = "xx_bergamot_sample", "0.1.0"
SAMPLE = Path(__file__).parents[1] / "assets/sample"
INIT = '''"""The stand-in."""
from spacy.util import load_model_from_init_py


def load(**overrides):
    return load_model_from_init_py(__file__, **overrides)
'''


def write_sample_package(folder: Path) -> Path:
    """Write an importable package to a folder, and return the folder.

    3-grams decide, for the language model has learned nothing.
    """
    made = folder / NAME / f"{NAME}-{VERSION}"
    table_of([SAMPLE / "META"], folder / "concepts")
    lm = write_xlmr(folder / "lm")
    nlp = build_pipeline(lm=lm, concepts=folder / "concepts", pooling="mean")
    nlp.meta |= {"name": NAME.removeprefix("xx_"), "version": VERSION}
    nlp.to_disk(folder / "raw")
    config = folder / "raw/config.cfg"
    text = config.read_text("utf8").replace("dense = 0.9", "dense = 0.05")
    config.write_text(text.replace("lexical = 0.1", "lexical = 0.95"), "utf8")
    made.parent.mkdir()
    invoke("calibrate", folder / "raw", SAMPLE / "gold/queries.txt", made)
    (made.parent / "__init__.py").write_text(INIT, "utf8")
    (made.parent / "meta.json").write_text((made / "meta.json").read_text("utf8"), "utf8")
    metadata = folder / f"{NAME}-{VERSION}.dist-info/METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n", "utf8")
    invalidate_caches()
    return folder
