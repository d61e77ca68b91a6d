"""LearnedMix: a reranker that weighs names, prior, context and coherence as it has learned to.

p(candidate) = exp(w · x) / (Σ exp(w · x) + exp(v · z)), over a mention's candidates with features x
and NIL with features z (a conditional logit, McFadden 1974). The scores that it writes are these
probabilities; what each family of features adds to w · x stands in `Candidate.scores`, beside
`before`, the score that a candidate came with.

A folder: mix.json has the weights by feature, and what training measured.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot.index.knowledge_base import KnowledgeBase
from spacy_bergamot.linking.candidates import NIL, Candidate
from spacy_bergamot.linking.errors import BergamotError, Errors
from spacy_bergamot.linking.features import FAMILIES, FEATURES, OF_NIL, Seen, features_of
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.linking.profiles import Profiles
from spacy_bergamot.linking.rerank import Ordered
from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import files_fingerprint, read_manifest, write_manifest

KIND = "learned-mix"
VERSION = 1
GENERATORS, BEFORE = "generators", "before"
_FIELDS = {"index": str, "generator": str}
_FILE = "mix.json"
_DECIMALS = 6


@dataclass(frozen=True)
class Weights:
    """Weights by feature.

    candidate (dict[str, float]): Of `FEATURES`. generators (dict[str, float]): Of their scores.
    nil (dict[str, float]): Of `OF_NIL`.
    report (dict): What training measured.
    """

    candidate: Mapping[str, float]
    generators: Mapping[str, float]
    nil: Mapping[str, float]
    report: dict[str, Any] = field(default_factory=dict, repr=False)

    def save(self, path: Path, *, index: str, generator: str) -> None:
        """Write a folder.

        path (Path): The folder.
        index, generator (str): What the candidates came from.
        """
        facts = {key: dict(getattr(self, key)) for key in ("candidate", GENERATORS, "nil")}
        with atomic_folder(path) as folder:
            text = json.dumps({**facts, "report": self.report}, indent=1) + "\n"
            (folder / _FILE).write_text(text, encoding="utf8")
            write_manifest(folder, kind=KIND, version=VERSION, index=index, generator=generator)

    @classmethod
    def read(cls, path: Path) -> "Weights":
        """Read the file of a folder.

        path (Path): The folder.
        RAISES (BergamotError): B149 if it does not say the weights of just the features that there
            are.
        """
        try:
            facts = json.loads((path / _FILE).read_text(encoding="utf8"))
            kinds = ("candidate", GENERATORS, "nil")
            weights = {
                kind: {str(name): float(value) for name, value in facts[kind].items()}
                for kind in kinds
            }
            report = dict(facts["report"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as reason:
            raise _unfit(path, repr(reason)) from None
        for kind, names in (("candidate", FEATURES), ("nil", OF_NIL)):
            if unlike := weights[kind].keys() ^ set(names):
                what = f"the features differ by {', '.join(sorted(unlike))}"
                raise _unfit(path, what)
        if not all(np.isfinite(value) for of in weights.values() for value in of.values()):
            raise _unfit(path, "a weight is no number")
        return cls(**weights, report=report)


class LearnedMix:
    """The reranker; what `opened` returns has weights.

    nil (bool): Put NIL among the candidates. Where not, its probability counts all the same.
    """

    def __init__(
        self, *, nil: bool = True, weights: Weights | None = None, fingerprint: str = ""
    ) -> None:
        self.nil = nil
        self.fingerprint = fingerprint
        self.generator = ""
        self._weights = weights
        self._profiles: Profiles | None = None
        if weights is not None:
            self._generators = tuple(weights.generators)
            self._of_candidate = np.array(
                [weights.candidate[name] for name in FEATURES] + [*weights.generators.values()]
            )
            self._of_nil = np.array([weights.nil[name] for name in OF_NIL])

    def __repr__(self) -> str:
        return f"LearnedMix(nil={self.nil}, weights={self.fingerprint[:12]!r})"

    def opened(self, folder: Path, *, index: str) -> "LearnedMix":
        """Return the reranker with the weights of a folder.

        RAISES (BergamotError): B050 for another index, B149 for a damaged file; B001 to B006.
        """
        manifest = read_manifest(folder, kind=KIND, version=VERSION, fields=_FIELDS)
        if manifest["index"] != index:
            command = "training rerank PIPELINE CORPUS OUTPUT"
            raise BergamotError(Errors.B050, path=folder, command=command)
        mark = files_fingerprint(manifest)
        made = LearnedMix(nil=self.nil, weights=Weights.read(folder), fingerprint=mark)
        made.generator = manifest["generator"]
        return made

    def __call__(
        self, mentions: Sequence[Mention], candidates: Ordered, kb: KnowledgeBase
    ) -> Ordered:
        """Return the candidates of one document's mentions, best first, NIL among them."""
        profiles = self._profiles
        if profiles is None or profiles.kb is not kb:
            profiles = self._profiles = Profiles(kb)
        seen = features_of(mentions, candidates, profiles, self._generators)
        return [self.mixed(*one) for one in zip(candidates, seen, strict=True)]

    def mixed(self, found: list[Candidate], seen: Seen) -> list[Candidate]:
        """Return the candidates of one mention, best first, NIL among them.

        found (list[Candidate]): What was found for it.
        seen (Seen): The features of each, and of NIL.
        """
        if not found:
            return found
        added = seen.candidates * self._of_candidate
        values = np.append(added.sum(1), seen.nil @ self._of_nil)
        shares = np.exp(values - values.max())
        shares /= shares.sum()
        changed = [
            replace(
                candidate,
                score=round(float(share), _DECIMALS),
                scores={**candidate.scores, BEFORE: candidate.score, **_families(row)},
            )
            for candidate, share, row in zip(found, shares, added, strict=False)
        ]
        nil = Candidate(NIL, round(float(shares[-1]), _DECIMALS), "", "", "", "learned mix")
        # Equal ones stay as they were, and NIL comes behind them.
        both = [*changed, nil]
        order = np.argsort(-values, kind="stable").tolist()
        return [both[at] for at in order if self.nil or at < len(changed)]


def _families(added: np.ndarray) -> dict[str, float]:
    """Return what each family of features adds."""
    sums, start = {}, 0
    for family, names in FAMILIES.items():
        sums[family] = round(float(added[start : start + len(names)].sum()), _DECIMALS)
        start += len(names)
    return {**sums, GENERATORS: round(float(added[start:].sum()), _DECIMALS)}


def make_learned_mix(nil: bool = True) -> LearnedMix:
    """Configure `LearnedMix`; its weights are files of the pipeline.

    nil (bool): As of the class.
    """
    return LearnedMix(nil=nil)


def _unfit(path: Path, reason: str) -> BergamotError:
    return BergamotError(Errors.B149, path=path / _FILE, reason=reason, command="rerank")
