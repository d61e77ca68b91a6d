"""The files of a trained cross-encoder: PairModel, learned mix, and how both are blended."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spacy_bergamot.encoder.device import resolve_device
from spacy_bergamot.linking.cross_encoder import KIND
from spacy_bergamot.linking.cross_encoder.model import PairModel
from spacy_bergamot.linking.cross_encoder.reading import Blend
from spacy_bergamot.linking.errors import BergamotError, Errors
from spacy_bergamot.linking.learned_mix import Weights
from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import files_fingerprint, read_manifest, write_manifest

VERSION = 1
_MIX = "mix"
_FIELDS = {"index": str, "generator": str, "blend": dict, "size": int, "context": int}


@dataclass(frozen=True)
class Trained:
    """A cross-encoder and what it works with.

    model (PairModel), weights (Weights), blend (Blend): What was learned.
    size (int): Tokens of a line. context (int): Characters on either side of a mention.
    index, generator (str): What the candidates came from.
    fingerprint (str): Hash of the files; empty before they are written.
    """

    model: PairModel
    weights: Weights
    blend: Blend
    size: int
    context: int
    index: str
    generator: str
    fingerprint: str = ""

    def save(self, path: Path, **facts: Any) -> None:
        """Write a folder, whole or not at all.

        path (Path): The folder. facts (Any): More for the manifest.
        """
        made_with = {"index": self.index, "generator": self.generator}
        with atomic_folder(path) as folder:
            self.model.save(folder)
            self.weights.save(folder / _MIX, **made_with)
            write_manifest(
                folder,
                kind=KIND,
                version=VERSION,
                **made_with,
                blend=asdict(self.blend),
                size=self.size,
                context=self.context,
                **facts,
            )

    @classmethod
    def open(cls, folder: Path, *, device: str, precision: str) -> "Trained":
        """Open a trained cross-encoder.

        folder (Path): That `save` wrote.
        device (str): torch device, or "auto". precision (str): "fp32" or "bf16".
        RAISES (BergamotError): B014 for a precision, B149 if what it has does not fit; B001 to
            B006.
        """
        manifest = read_manifest(folder, kind=KIND, version=VERSION, fields=_FIELDS)
        try:
            blend = Blend(**{key: float(value) for key, value in manifest["blend"].items()})
        except (TypeError, ValueError) as reason:
            raise BergamotError(Errors.B149, path=folder, command=KIND, reason=reason) from None
        model = PairModel.open(folder, device=resolve_device(device), precision=precision)
        return cls(
            model,
            Weights.read(folder / _MIX),
            blend,
            manifest["size"],
            manifest["context"],
            manifest["index"],
            manifest["generator"],
            files_fingerprint(manifest),
        )
