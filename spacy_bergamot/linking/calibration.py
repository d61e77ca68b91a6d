"""Calibration: from scores to probabilities that a candidate is right.

p = σ(w · x) with x = (1, score, exact, margin, the score of every generator, folded, misspelt):
exact is 1 where the alias was found as it stands, margin is the score less the best score of
another concept, folded is 1 where alias and mention differ in inflection, order or hyphens alone
(`spacy_bergamot.folding`), misspelt where one letter of one long word differs. Weights are fitted
to the best candidates of all mentions, then for every semantic group, then within a group for
aliases in the mention's language and in others, each drawn towards the weights of the level above
(a Gaussian prior), so that a group with few examples keeps what all have in common (Platt 1999,
with Gelman and Hill 2007 for the levels). An alias in the mention's language that is only similar
to it is mostly another concept's name; one in another language has no letters in common with it by
chance, and is right at lower scores.

What it reports is measured out of fold: on mentions that the weights were not fitted on
(`spacy_bergamot.linking.calibration_report`).
"""

import json
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot.errors import BergamotError, Errors, Warnings
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.languages import NO_LANGUAGE, lat
from spacy_bergamot.linking.calibration_report import Observation, report_of
from spacy_bergamot.linking.candidates import NIL, Candidate
from spacy_bergamot.linking.likeness import likeness
from spacy_bergamot.linking.mention import Mention
from spacy_bergamot.storage.files import atomic_folder
from spacy_bergamot.storage.manifest import Fields, checked_manifest, write_manifest

KIND = "calibration"
VERSION = 2
LEAST = 20
"""Distinct mentions with candidates below which nothing is fitted."""

PRECISIONS = (0.8, 0.9, 0.95, 0.99)
_STRENGTH = (0.5, 3.0, 3.0)  # of the prior: for all, a group, same or other language in it
_FOLDS = 5
_FILE = "calibration.json"


@dataclass(frozen=True)
class Calibration:
    """Weights by level: "" for all, a group, or group|same and group|other (language).

    weights (dict[str, list[float]]): Of constant, score, exact, margin, the parts, folded and
        misspelt.
    parts (tuple[str, ...]): What gave scores: the keys of `Candidate.scores`.
    report (dict): What `fit` measured.
    """

    weights: dict[str, list[float]]
    parts: tuple[str, ...]
    report: dict[str, Any] = field(default_factory=dict)

    def __call__(
        self, found: list[Candidate], groups: "Groups", mention: Mention | None = None
    ) -> list[Candidate]:
        """Return the candidates of one mention with their probabilities, in the same order.

        NIL, which a reranker may have put among them, has none.

        mention (Mention | None): None where nothing is known of it.
        """
        return [
            candidate
            if candidate.concept_id == NIL
            else replace(candidate, probability=round(self._probability(values, keys), 4))
            for candidate, (values, keys) in zip(
                found, _features(found, groups, self.parts, mention), strict=True
            )
        ]

    def _probability(self, values: Sequence[float], keys: Sequence[str]) -> float:
        weights = next(self.weights[key] for key in reversed(keys) if key in self.weights)
        return float(_sigmoid(np.dot(weights, values[: len(weights)])))

    @classmethod
    def fit(
        cls,
        candidates: Sequence[list[Candidate]],
        golds: Sequence[frozenset[str]],
        groups: "Groups",
        *,
        mentions: Sequence[Mention | None] | None = None,
        precision: float | None = None,
    ) -> "Calibration":
        """Fit probabilities to mentions whose concepts are known.

        groups (Groups): Semantic groups of concepts.
        candidates: Of every mention, best first; where NIL is the first, nothing is linked.
        golds: Its right concepts; none if it is NIL.
        mentions (Sequence[Mention | None] | None): The mentions; None where nothing is known.
        precision (float | None): One more precision for which a threshold is sought.
        RAISES (BergamotError): B053 if there are too few mentions.
        """
        mentions = [None] * len(golds) if mentions is None else mentions
        known = [
            (found, gold, mention)
            for found, gold, mention in zip(candidates, golds, mentions, strict=True)
            if found and found[0].concept_id != NIL
        ]
        parts = tuple(sorted({part for found, _, _ in known for part in found[0].scores}))
        tops = [
            Observation(
                _key(found[0]),
                *_features(found, groups, parts, mention)[0],
                found[0].concept_id in gold,
            )
            for found, gold, mention in known
        ]
        rights = sum(top.right for top in tops)
        distinct = len({top.key for top in tops})
        if distinct < LEAST or rights in (0, len(tops)):
            raise BergamotError(Errors.B053, count=distinct, right=rights, least=LEAST)
        # A mention that is repeated stays in one fold.
        folds = [zlib.crc32(top.key.encode()) % _FOLDS for top in tops]
        held = np.empty(len(tops))
        for fold in set(folds):
            others = [top for top, number in zip(tops, folds, strict=True) if number != fold]
            made = cls(_fitted(others), parts)
            for row in np.flatnonzero(np.equal(folds, fold)):
                held[row] = made._probability(tops[row].values, tops[row].keys)
        wanted = sorted({*PRECISIONS, *([precision] if precision else [])})
        linkable = sum(map(bool, golds))
        report = {"mentions": len(golds), **report_of(tops, held, wanted, linkable=linkable)}
        return cls(_fitted(tops), parts, report)

    def save(self, path: Path, *, index: str, scoring: str) -> None:
        """Write a folder.

        path (Path): The folder.
        index, scoring (str): What the scores came from.
        """
        facts = {"weights": self.weights, "parts": self.parts, "report": self.report}
        with atomic_folder(path) as folder:
            text = json.dumps(facts, ensure_ascii=False, indent=1) + "\n"
            (folder / _FILE).write_text(text, encoding="utf8")
            write_manifest(folder, kind=KIND, version=VERSION, index=index, scoring=scoring)

    @classmethod
    def open(cls, path: Path, *, index: str, scoring: str) -> "Calibration":
        """Read a folder, and warn if scores are made in another way since.

        path (Path): The folder.
        index, scoring (str): What scores come from now.
        RAISES (BergamotError): B050 for another index; B001 to B006.
        """
        fields: Fields = {"index": str, "scoring": str}
        # Those of version 1 lack the last weights, folded's and misspelt's.
        with checked_manifest(path, kind=KIND, version=VERSION, also=(1,), fields=fields) as read:
            manifest = read
        if manifest["index"] != index:
            command = "spacy bergamot calibrate PIPELINE GOLD OUTPUT"
            raise BergamotError(Errors.B050, path=path, command=command)
        if manifest["scoring"] != scoring:
            text = Warnings.W001.format(before=manifest["scoring"], now=scoring)
            warnings.warn(text, stacklevel=2)
        facts = json.loads((path / _FILE).read_text(encoding="utf8"))
        return cls(facts["weights"], tuple(facts["parts"]), facts["report"])

    def threshold(self, precision: float) -> float | None:
        """Return the probability from which links reach a precision; None if none does."""
        entry = self.report["thresholds"].get(f"{precision:g}")
        return entry["probability"] if entry else None


class Groups:
    """The semantic group of concepts (of several the first in the alphabet), remembered."""

    def __init__(self, *tables: ConceptTable) -> None:
        self._tables = tables
        self._known: dict[str, str] = {}

    def __getitem__(self, concept_id: str) -> str:
        if concept_id not in self._known:
            self._known[concept_id] = self._find(concept_id)
        return self._known[concept_id]

    def _find(self, concept_id: str) -> str:
        for table in self._tables:
            row = table.find(concept_id)
            if row is not None:
                groups = table.rows_of("types", row)["group"].to_pylist()
                return str(min(groups, default=""))
        return ""


def _key(best: Candidate) -> str:
    return f"{best.concept_id}|{best.alias}|{best.score}"


def _features(
    found: list[Candidate], groups: Groups, parts: Sequence[str], mention: Mention | None
) -> list[tuple[tuple[float, ...], tuple[str, str, str]]]:
    """Return values and keys of the candidates of one mention."""
    scores = [candidate.score for candidate in found]
    first, second = [*sorted(scores, reverse=True)[:2], 0.0, 0.0][:2]
    language = mention.language if mention else ""
    results = []
    for candidate in found:
        other = second if candidate.score == first else first
        exact = float(candidate.generator == "exact")
        group = groups[candidate.concept_id]
        each = (candidate.scores.get(part, 0.0) for part in parts)
        alike = (0.0, 0.0) if exact or mention is None else likeness(candidate, mention)
        values = (1.0, candidate.score, exact, candidate.score - other, *each, *alike)
        relation = _relation(candidate.language, language)
        results.append((values, ("", group, f"{group}|{relation}" if relation else group)))
    return results


def _relation(alias: str, mention: str) -> str:
    """Return whether an alias is in the mention's language; empty where either says none."""
    if alias in NO_LANGUAGE or mention in NO_LANGUAGE:
        return ""
    return "same" if lat(alias) == lat(mention) else "other"


def _fitted(seen: list[Observation]) -> dict[str, list[float]]:
    """Fit the levels from the widest to the narrowest."""
    weights: dict[str, np.ndarray] = {}
    for level, strength in enumerate(_STRENGTH):
        members: dict[str, list[Observation]] = {}
        # Where a language is unknown there is no third level: of held-out names it is known, so
        # that such a level would be of words that are no concept, and refuse everything.
        finer = [entry for entry in seen if not level or entry.keys[level] != entry.keys[level - 1]]
        for entry in finer:
            members.setdefault(entry.keys[level], []).append(entry)
        above = {entry.keys[level]: entry.keys[level - 1] for entry in finer}
        for key, entries in sorted(members.items()):
            prior = weights[above[key]] if level else np.zeros(len(entries[0].values))
            weights[key] = _logistic(entries, prior, strength)
    return {key: np.round(values, 6).tolist() for key, values in weights.items()}


def _logistic(entries: list[Observation], prior: np.ndarray, strength: float) -> np.ndarray:
    """Minimise log loss + strength/2 · |w − prior|² by Newton's method."""
    x = np.array([entry.values for entry in entries])
    y = np.array([entry.right for entry in entries], dtype=float)
    weights = prior.copy()
    for _ in range(50):
        p = _sigmoid(x @ weights)
        gradient = x.T @ (p - y) + strength * (weights - prior)
        curvature = (x * (p * (1 - p))[:, None]).T @ x + strength * np.eye(len(prior))
        step = np.linalg.solve(curvature, gradient)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def _sigmoid(value: Any) -> Any:
    return 1 / (1 + np.exp(-np.clip(value, -30, 30)))
