"""AliasIndex: every distinct alias, found exactly by its normal form or nearby by its vector.

A folder, memory-mapped, without pickle:

- strings.arrow      distinct aliases in normal form, sorted; a string's id is its row.
- postings_indptr.npy, postings.npy   for every string its rows in concepts/aliases.arrow.
- keys.npy, key_rows.npy   sorted 64-bit keys of the strings, and their rows.
- vector_indptr.npy, vector_strings.npy   for every vector the ids of its strings: those of the
  same token ids share one. string_vectors.npy   for every string its vector.
- folded_keys.npy, folded_strings.npy, folded_languages.npy   the same strings by their folded
  forms (`spacy_bergamot.index.folded_strings`); from version 5 on.
- lexical/           the same strings by their character 3-grams.
- engine/            what the search engine saved; its rows are vectors.
- languages.npy      the mean of the vectors, and of those of every language's names.
- concepts/          the concept table.
- manifest.json      fingerprint of the language model, engine, counts, checksums.
"""

import logging
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from spacy_bergamot.encoder.text_encoder import Encodes, EncodesAliases
from spacy_bergamot.errors import BergamotError, Errors
from spacy_bergamot.hashing import find_keys, string_keys
from spacy_bergamot.index.alias_strings import save_languages, write_strings
from spacy_bergamot.index.distinct import group_names
from spacy_bergamot.index.engines import Engine, Vectors, engine_class, require_engine
from spacy_bergamot.index.folded_strings import FoldedStrings
from spacy_bergamot.index.language_bias import LanguageBias
from spacy_bergamot.index.lexical import LexicalIndex
from spacy_bergamot.index.vector_store import fill, open_store, plan_of
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.languages import lat
from spacy_bergamot.ragged import expand
from spacy_bergamot.storage.arrow_files import read_arrow
from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import checked_manifest, files_fingerprint, write_manifest

KIND = "alias-index"
VERSION = 5
_MOST_NEW = 0.2  # share of new vectors from which a graph is built and not grown
_ALSO = (3, 4)  # 3-grams with weights instead of lengths; no folded forms
_FIELDS = {"lm_fingerprint": str, "engine": str, "dim": int, "release": list}
_FIELDS |= dict.fromkeys(("strings", "vectors", "aliases", "concepts"), int)

logger = logging.getLogger(__name__)


class AliasIndex:
    """An index on disk; open it with `AliasIndex.open`, make it with `AliasIndex.build`."""

    def __init__(
        self,
        path: Path,
        manifest: dict[str, Any],
        engine: Engine,
        *,
        base: "AliasIndex | None" = None,
    ) -> None:
        self.path = path
        self.manifest = manifest
        self.engine = engine
        self.base = base
        self.table = ConceptTable.open(path / "concepts", checksums=False)
        self.strings: pa.Array = read_arrow(path / "strings.arrow").column(0).combine_chunks()
        self.indptr = _mapped(path / "postings_indptr.npy")
        self.postings = _mapped(path / "postings.npy")
        beneath = base.lexical if base else None
        self.lexical: LexicalIndex = LexicalIndex(path / "lexical", base=beneath)
        self.vector_indptr = _mapped(path / "vector_indptr.npy")
        self.vector_strings = _mapped(path / "vector_strings.npy")
        self.string_vectors = _mapped(path / "string_vectors.npy")
        languages = self.table.column("aliases", "language")
        names = languages.dictionary.to_pylist()
        count = len(self.vector_indptr) - 1
        self.bias: LanguageBias = base.bias if base else LanguageBias.open(path, names, count=count)
        self._languages = self.bias.codes(names)
        self._lat = np.array(list(map(lat, names)))
        self.folded = FoldedStrings(path, names)
        self._language_of = languages.indices.to_numpy(zero_copy_only=True)
        self.keys = _mapped(path / "keys.npy")
        self.key_rows = _mapped(path / "key_rows.npy")

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        ef_search: int = 100,
        checksums: bool = True,
        base: "AliasIndex | None" = None,
    ) -> "AliasIndex":
        """Open an index.

        path (Path | str): The folder.
        ef_search (int): Of a graph: candidates during a search; more find more, and take longer.
        checksums (bool): Compare the files' checksums, and not their sizes alone.
        base (AliasIndex | None): Index that it was built base.
        RAISES (BergamotError): If a file is missing, truncated, changed or of another version.
        """
        path = Path(path)
        # The engine loads while the files are hashed: either takes as long as the other.
        with checked_manifest(
            path, kind=KIND, version=VERSION, also=_ALSO, fields=_FIELDS, checksums=checksums
        ) as manifest:
            if manifest.get("components"):
                raise BergamotError(Errors.B044, path=path)
            engine = engine_class(manifest["engine"]).open(path / "engine", ef_search=ef_search)
        return cls(path, manifest, engine, base=base)

    @classmethod
    def build(
        cls,
        path: Path | str,
        concepts: Path | str,
        encoder: EncodesAliases,
        *,
        lm_fingerprint: str,
        engine: str = "nmslib",
        settings: dict[str, Any] | None = None,
        vectors: Path | str | None = None,
        dtype: str = "float32",
        base: "AliasIndex | None" = None,
        before: "AliasIndex | None" = None,
        progress: bool = False,
    ) -> dict[str, Any]:
        """Embed every distinct alias of a concept table and index it; return the manifest.

        path (Path | str): Folder of the index.
        encoder (EncodesAliases): The language model.
        progress (bool): Show how far it is.
        concepts (Path): Folder of the concept table; it is copied into the index.
        lm_fingerprint (str): What queries must be encoded with.
        engine (str): One of `spacy_bergamot.index.engines`. settings (dict): Of its `build`.
        vectors (Path | None): Folder that keeps the vectors and what an engine makes on the way,
            so that a killed build goes on where it was; None keeps none.
        dtype (str): Type of the vectors that are kept, "float32" or "float16".
        base (AliasIndex | None): Index whose weights of 3-grams and means of languages are taken,
            so that scores of both compare.
        before (AliasIndex | None): Index of the same language model, engine and settings, most of
            whose names stay: an engine that can (`grow`) links the new names alone.
        """
        require_engine(engine, settings)
        table = ConceptTable.open(concepts)
        with atomic_folder(Path(path)) as folder:
            strings = write_strings(folder, table)
            FoldedStrings.write(folder, table)
            LexicalIndex.build(folder / "lexical", strings, base=base.lexical if base else None)
            groups = group_names(encoder, strings)
            np.save(folder / "vector_indptr.npy", groups.indptr)
            np.save(folder / "vector_strings.npy", groups.members)
            string_vectors = groups.of_rows().astype(np.int32)
            np.save(folder / "string_vectors.npy", string_vectors)
            named = strings.take(pa.array(groups.first))
            plan = plan_of(named, encoder, lm_fingerprint=lm_fingerprint, dtype=dtype)
            kept = Path(vectors) / plan.id[:16] if vectors is not None else None
            store = kept or folder / "vectors.tmp"
            fill(store, named, encoder, plan, progress=progress)
            logger.info("Building the %s index of %d vectors", engine, len(named))
            found: Vectors = open_store(store, plan)
            save_languages(folder, found, table, string_vectors)
            sources = before.vector_rows(named) if before else np.full(len(named), -1)
            if before and hasattr(before.engine, "grow") and (sources < 0).mean() <= _MOST_NEW:
                before.engine.grow(folder / "engine", found, sources)
            else:
                made, more = engine_class(engine), dict(settings or {})
                if made.in_parts and kept is not None:
                    more["parts"] = kept / "parts"
                made.build(folder / "engine", found, progress=progress, **more)
            shutil.rmtree(folder / "vectors.tmp", ignore_errors=True)
            shutil.copytree(table.path, folder / "concepts")
            return write_manifest(
                folder,
                kind=KIND,
                version=VERSION,
                lm_fingerprint=lm_fingerprint,
                engine=engine,
                settings=settings or {},
                dim=encoder.dim,
                strings=len(strings),
                vectors=len(named),
                aliases=table.aliases.num_rows,
                concepts=len(table),
                release=table.manifest.get("release", []),
            )

    def __len__(self) -> int:
        return len(self.strings)

    @property
    def fingerprint(self) -> str:
        """Hash of the checksums of all its files (hex, 64 digits)."""
        return files_fingerprint(self.manifest)

    def lookup(self, names: Sequence[str]) -> np.ndarray:
        """Return the string ids of names in normal form, int64 (len(names),); -1 if unknown."""
        found = find_keys(self.keys, string_keys(names))
        return np.array(
            [self._verified(position, name) for position, name in zip(found, names, strict=True)],
            dtype=np.int64,
        )

    def _verified(self, position: int, name: str) -> int:
        """Compare the strings of equal keys: two strings may share one."""
        if position < 0:
            return -1
        key = self.keys[position]
        while position < len(self.keys) and self.keys[position] == key:
            row = int(self.key_rows[position])
            if self.strings[row].as_py() == name:
                return row
            position += 1
        return -1

    def search(self, vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return vector rows (int64) and cosines (float32), both (n, k), best first, -1 filled.

        vectors (float32 (n, d)): Unit vectors.
        k (int): Of the nearest.
        """
        return self.engine.search(vectors, k)

    def embed(self, names: Sequence[str], encoder: Encodes) -> np.ndarray:
        """Return vectors of names in normal form as the engine has them, float32 (n, d).

        Those that are strings of the index are read from it; `encoder` is asked for the others.
        """
        strings = self.lookup(names)
        known, others = np.flatnonzero(strings >= 0), np.flatnonzero(strings < 0)
        parts = []
        if len(known):
            parts.append(self.engine.vectors(self.string_vectors[strings[known]]))
        if len(others):
            rest = [names[row] for row in others.tolist()]
            if self.base is not None:
                parts.append(self.base.embed(rest, encoder))
            else:
                parts.append(encoder.encode(rest))
        return np.concatenate(parts)[np.argsort(np.concatenate([known, others]))]

    def cosines(self, vector: np.ndarray, strings: np.ndarray) -> np.ndarray:
        """Return the cosines, float32 (n,), of a vector from `embed` with some strings' vectors."""
        return self.engine.vectors(self.string_vectors[strings]) @ vector

    def languages_of(self, strings: np.ndarray) -> np.ndarray:
        """Return the shares of languages in strings, float32 (n, languages + 1).

        A column is a row of `bias.offsets`: 1 for the language of a string; of several, each has
        an equal share.

        strings (int64 (n,)): Rows of the strings.
        """
        aliases, owners = expand(self.indptr, self.postings, strings)
        shares = np.zeros((len(strings), len(self.bias.offsets)), dtype=np.float32)
        shares[owners, self._languages[self._language_of[aliases]]] = 1
        return shares / shares.sum(1, keepdims=True)

    def vector_rows(self, names: pa.Array) -> np.ndarray:
        """Return the vector row of names in normal form, int64 (n,); -1 for one it has not."""
        strings = self.lookup(names.to_pylist())
        return np.where(strings >= 0, self.string_vectors[strings], -1).astype(np.int64)

    @property
    def vectors(self) -> int:
        """Number of distinct vectors."""
        return len(self.vector_indptr) - 1

    def alias_in(self, name: str, concept_id: str, language: str) -> dict[str, str] | None:
        """Return alias, language and source of a concept's name in a language; None without one.

        name (str): In normal form. concept_id (str): Of the concept.
        language (str): As in MRCONSO.RRF.
        """
        (string,), concept = self.lookup([name]), self.table.find(concept_id)
        if string < 0 or concept is None:
            return None
        rows = self.alias_rows(int(string))
        rows = rows[self.table.keys("aliases")[rows] == concept]
        rows = rows[self._lat[self._language_of[rows]] == language]
        if not len(rows):
            return None
        (found,) = self.table.aliases.slice(int(rows[0]), 1).to_pylist()
        return {column: found[column] for column in ("alias", "language", "source")}

    def alias_rows(self, string: int) -> np.ndarray:
        """Return the rows in the concept table's aliases of a string, int32."""
        return self.postings[self.indptr[string] : self.indptr[string + 1]]


def _mapped(path: Path) -> np.ndarray:
    """Map an array; as a plain one, of which numpy takes rows three times as fast."""
    return np.load(path, mmap_mode="r").view(np.ndarray)
