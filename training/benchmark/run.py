"""A benchmark: knowledge base, corpora, pipeline, candidates, reranker, results, figures."""

import logging
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import spacy
from confection import Config

from spacy_bergamot.encoder.lm_folder import find_lm
from spacy_bergamot.kb.concept_table import ConceptTable
from spacy_bergamot.kb_import.build import make_concept_table
from spacy_bergamot.kb_import.filters import Filters
from spacy_bergamot.pipeline.loaders import alias_index, language_model
from spacy_bergamot.pipeline.pipelines import find_pipeline, linker_of, load_pipeline
from training.benchmark.corpora import part_path, read_part, without_composites
from training.benchmark.ranking import link_scores, queries_of, ranked_of, reranked
from training.benchmark.steps import Steps
from training.corpora.schema import Corpus
from training.errors import BergamotError, Errors, check_choice
from training.evaluate.metrics import COUNTING, GOLDS
from training.evaluate.results import Choices, Results, write
from training.rerank.ask import ask
from training.rerank.candidates import Asked

if TYPE_CHECKING:
    from spacy_bergamot.pipeline.linker import BergamotLinker

CANDIDATES, RERANKED = "candidates", "reranked"
_LINES = 15

logger = logging.getLogger(__name__)


def run_benchmark(config: Config) -> dict[str, Any]:
    """Run the steps whose inputs changed; return the figures.

    RETURNS (dict): "figures", as `Results.figures`; "links", precision, recall and F1 of the first
        candidates, by system and set; "done", the steps that were run.
    RAISES (BergamotError): B014 for how golds count, T282 for a missing corpus, else as its steps.
    """
    return _Benchmark(config).run()


class _Benchmark:
    def __init__(self, config: Config) -> None:
        self.config = config
        self.paths = config["paths"]
        self.steps = Steps(Path(self.paths["output"]))
        self.root = Path(self.paths["corpus"])
        self.k = int(config["linker"]["k"])
        self.golds = config["evaluate"]["golds"]
        counted = [name for name in GOLDS if name != "annotated"]  # candidates do not say that
        check_choice(COUNTING, self.golds, counted)

    def run(self) -> dict[str, Any]:
        corpus, rerank = self.config["corpus"], self.config["rerank"]
        for part in ["test"] + ["train"] * bool(rerank["train"] and not rerank["folder"]):
            part_path(corpus, self.root, part)  # before hours of work
        concepts, pipeline = self._pipeline()
        test = self._corpus("test", concepts)
        asked = self.steps.run(
            f"{CANDIDATES}.arrow",
            lambda path: self._ask(pipeline, test, path),
            pipeline=pipeline, test=test, k=self.k,
        )  # fmt: skip
        systems = {CANDIDATES: pipeline}
        if rerank["train"] or rerank["folder"]:
            systems[RERANKED] = self._reranker(pipeline, concepts)
        results = self.steps.run(
            "results",
            lambda path: self._write(path, asked, systems),
            asked=asked, golds=self.golds, sets=corpus["sets"], **systems,
        )  # fmt: skip
        figures = Results.open(results).figures()
        return {"links": figures.pop("links"), "figures": figures, "done": self.steps.done}

    def _pipeline(self) -> tuple[Path, Path]:
        """Return the concept table and the pipeline, made of knowledge base and language model."""
        if self.paths["pipeline"]:
            pipeline = find_pipeline(self.paths["pipeline"])
            linker, _ = linker_of(load_pipeline(str(pipeline)))
            return linker.parts.index.table.path, pipeline
        lm = find_lm(self.paths["lm"])  # before hours of work
        concepts = self._concepts(Path(self.paths["kb"]))
        settings = {key: value for key, value in self.config["linker"].items() if value is not None}
        index = dict(self.config["index"])
        pipeline = self.steps.run(
            "pipeline",
            lambda path: self._assemble(concepts, lm, settings, index, path),
            concepts=concepts, lm=lm, linker=settings, index=index,
        )  # fmt: skip
        return concepts, pipeline

    def _concepts(self, kb: Path) -> Path:
        if (kb / "concepts.arrow").is_file():
            return kb
        settings: dict[str, Any] = {key: tuple(of) for key, of in self.config["kb"].items()}
        filters = Filters(**settings)
        return self.steps.run(
            "concepts",
            lambda path: make_concept_table([kb], path, filters=filters),
            kb=kb, filters=repr(filters),
        )  # fmt: skip

    def _assemble(
        self, concepts: Path, lm: Path, linker: dict, index: dict[str, Any], path: Path
    ) -> None:
        nlp = spacy.blank("xx")
        made: Any = nlp.add_pipe("bergamot_linker", config=linker)
        encoder = language_model(str(lm), index["pooling"], prefix=index["prefix"])
        of_index = {key: value for key, value in index.items() if key not in ("pooling", "prefix")}
        built = alias_index(str(concepts), vectors=str(self.steps.folder / "vectors"), **of_index)
        made.initialize(lambda: [], nlp=nlp, encoder=encoder, index=built)
        nlp.to_disk(path)

    def _corpus(self, part: str, concepts: Path) -> Path:
        settings = dict(self.config["corpus"])
        return self.steps.run(
            part,
            lambda path: read_part(
                settings, self.root, part, ConceptTable.open(concepts)
            ).write(path),
            settings=settings, concepts=concepts, files=part_path(settings, self.root, part),
            **{key: Path(settings[key]) for key in ("codes", "mrcui") if settings[key]},
        )  # fmt: skip

    def _ask(self, pipeline: Path, test: Path, path: Path) -> None:
        corpus = without_composites(Corpus.open(test))
        ask(self._linker(pipeline), corpus, k=self.k).write(path)

    def _linker(self, pipeline: Path) -> "BergamotLinker":
        return linker_of(load_pipeline(str(pipeline), k=self.k))[0]

    def _reranker(self, pipeline: Path, concepts: Path) -> Path:
        """Return the pipeline with a reranker, given or trained."""
        rerank = self.config["rerank"]
        names = {"pipeline": pipeline, "k": self.k, "output": self.steps.folder}
        if rerank["folder"]:
            names["reranker"] = Path(rerank["folder"])
        else:
            names["train"] = self._corpus("train", concepts)
            names["reranker"] = self.steps.run(
                "reranker",
                lambda path: _command(rerank["train"], {**names, "reranker": path}),
                command=rerank["train"], **names,
            )  # fmt: skip
        return self.steps.run(
            RERANKED,
            lambda path: _command(rerank["install"], {**names, "reranked": path}),
            command=rerank["install"], **names,
        )  # fmt: skip

    def _write(self, path: Path, asked: Path, systems: dict[str, Path]) -> None:
        sets, read = self.config["corpus"]["sets"], Asked.read(asked)
        queries = queries_of(read.documents, sets)
        found = {CANDIDATES: [document.candidates for document in read.documents]}
        if RERANKED in systems:
            found[RERANKED] = reranked(self._linker(systems[RERANKED]), read.documents)
        links = {
            name: link_scores(read.documents, of, sets, golds=self.golds)
            for name, of in found.items()
        }
        choices = Choices(golds=self.golds, out_of_kb="miss", k=self.k)
        table = ConceptTable.open(self._linker(systems[CANDIDATES]).parts.index.table.path)
        size = {"names": table.aliases.num_rows, "concepts": len(table)}
        facts = {
            "dictionary": size,
            "skipped": read.facts["counts"],
            "lms": {},  # what the report shows of language models by themselves
            "pipelines": {},
            "precision": self.config["index"]["precision"],
            "links": links,
        }
        whole = {"full": [True] * len(queries)}
        ranked = ((name, ranked_of(of)) for name, of in found.items())
        write(path, queries, whole, ranked, choices, facts)


def _command(command: str, names: dict[str, Any]) -> None:
    """Run `python -m COMMAND` with names in it. RAISES (BergamotError): T284 if it fails."""
    try:
        words = [word.format(**names) for word in shlex.split(command)]
    except (KeyError, ValueError, IndexError) as reason:
        facts = {"command": command, "status": f"{reason!r} is no name"}
        raise BergamotError(Errors.T284, **facts, end=f"Names are {', '.join(names)}.") from None
    logger.info("python -m %s", shlex.join(words))
    done = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        end = "\n".join((done.stdout + done.stderr).splitlines()[-_LINES:])
        raise BergamotError(Errors.T284, command=shlex.join(words), status=done.returncode, end=end)
    logger.info("%s", done.stdout.strip())
