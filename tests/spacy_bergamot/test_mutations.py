"""Some 300 changed files, for every loader: a coded error, or the same result, or listed here."""

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy

from spacy_bergamot.encoder.lm_folder import LM_KIND, LM_VERSION
from spacy_bergamot.encoder.text_encoder import TextEncoder, fingerprint
from spacy_bergamot.errors import BergamotError
from spacy_bergamot.index.alias_index import AliasIndex
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.linking.settings import LinkerSettings
from spacy_bergamot.pipeline.loaders import alias_index, concept_table
from spacy_bergamot.pipeline.parts import LinkerParts
from spacy_bergamot.storage.manifest import write_manifest

HOSTILE = ["[" * 100_000, "[]", "3", "null", '{"files": []}', '{"files": {"../x": 1}}']
NAMES = ["high blood pressure", "fevers", "糖尿病"]
HARMLESS: set[tuple[str, str, str]] = set()
"""(loader, file, damage) of what may load to another result."""


def truncated(path: Path, rng: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: rng.randrange(len(data))])


def flipped(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def swapped(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    half = max(1, min(64, len(data) // 2))
    at, to = rng.randrange(len(data) - half + 1), rng.randrange(len(data) - half + 1)
    data[at : at + half], data[to : to + half] = data[to : to + half], data[at : at + half]
    path.write_bytes(data)


def emptied(path: Path, _: random.Random) -> None:
    path.write_bytes(b"")


def deleted(path: Path, _: random.Random) -> None:
    path.unlink()


def linked(path: Path, rng: random.Random) -> None:
    path.unlink()
    path.symlink_to(rng.choice(["/dev/zero", "/etc/passwd", path.name, "nothing", "../.."]))


def hostile(path: Path, rng: random.Random) -> None:
    path.write_text(rng.choice(HOSTILE))


DAMAGES = [truncated, flipped, swapped, emptied, deleted, linked, hostile]


def probe_encoder(path: Path) -> Any:
    return TextEncoder.open(path).encode(NAMES).tobytes()


def probe_table(path: Path) -> Any:
    table = ConceptTable.open(path)
    return [table.concept(row) for row in range(len(table))]


def probe_index(path: Path) -> Any:
    index = AliasIndex.open(path)
    vectors = np.eye(32, dtype=np.float32)[:3]
    rows, scores = index.search(vectors, 4)
    return index.lookup(NAMES).tolist(), rows.tolist(), scores.tobytes()


def probe_mentions(path: Path) -> Any:
    nlp = spacy.blank("xx")
    doc = nlp.add_pipe("bergamot_mentions").from_disk(path)(nlp.make_doc("Fieber, MI, aspirin"))
    return [(ent.text, ent.label_) for ent in doc.ents]


def probe_linker(path: Path) -> Any:
    parts = LinkerParts.from_disk(path, LinkerSettings(), name="bergamot_linker")
    found = parts.generator.generate([(name, "") for name in NAMES], k=10)
    provenance = parts.provenance
    return [[c.to_dict() for c in of] for of in found], provenance


LOADERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "encoder": ("lm", probe_encoder),
    "table": ("linker/index/concepts", probe_table),
    "index": ("linker/index", probe_index),
    "mentions": ("mentions", probe_mentions),
    "linker": ("linker", probe_linker),
}


@pytest.fixture(scope="module")
def made(concepts: Path, lm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made")
    shutil.copytree(lm, root / "lm")
    write_manifest(root / "lm", kind=LM_KIND, version=LM_VERSION, fingerprint=fingerprint(lm))
    nlp: Any = spacy.blank("xx")
    mentions = nlp.add_pipe("bergamot_mentions")
    mentions.initialize(lambda: [], nlp=nlp, concepts=concept_table(str(concepts)))
    mentions.to_disk(root / "mentions")
    shutil.copytree(root / "lm", root / "linker/encoder")
    alias_index(str(concepts))(root / "linker/index", root / "lm")
    return root


def cases(made: Path, count: int) -> Iterator[tuple[str, str, Callable[..., None], random.Random]]:
    """Yield as many damages as asked for, shared out over the loaders and their files."""
    rng = random.Random(0)
    files = {
        name: sorted(p.relative_to(made / part) for p in (made / part).rglob("*") if p.is_file())
        for name, (part, _) in LOADERS.items()
    }
    for number in range(count):
        name = list(LOADERS)[number % len(LOADERS)]
        file = rng.choice(files[name])
        if rng.random() < 0.25:
            file = rng.choice([path for path in files[name] if path.name == "manifest.json"])
        yield name, str(file), DAMAGES[number // len(LOADERS) % len(DAMAGES)], rng


@pytest.mark.timeout(120)
def test_every_damage_is_a_coded_error_or_changes_nothing(made: Path, tmp_path: Path):
    expected = {name: probe(made / part) for name, (part, probe) in LOADERS.items()}
    wrong = []
    for name, file, damage, rng in cases(made, 300):
        part, probe = LOADERS[name]
        folder = tmp_path / "copy"
        shutil.copytree(made / part, folder)
        damage(folder / file, rng)
        try:
            outcome = "same" if probe(folder) == expected[name] else "silently another result"
        except BergamotError as error:
            outcome = "coded" if str(folder) in str(error) else f"no path: {error}"
        except Exception as error:
            outcome = repr(error)[:200]
        case = (name, file, damage.__name__)
        if outcome not in ("same", "coded") and case not in HARMLESS:
            wrong.append((*case, outcome))
        shutil.rmtree(folder)
    assert not wrong, "\n".join(map(str, wrong))
