"""From a training config to a language model on disk."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from confection import Config

from spacy_bergamot.encoder.device import resolve_device
from spacy_bergamot.encoder.lm_folder import check_folder, open_model, verify_files
from spacy_bergamot.encoder.text_encoder import EncoderSettings, TextEncoder, open_tokenizer
from spacy_bergamot.storage.files import atomic_file, atomic_folder
from spacy_bergamot.storage.manifest import write_manifest
from spacy_bergamot.storage.preflight import announce
from training.bergamot.adapters import is_adapted, merged
from training.bergamot.batches import BatchMaker
from training.bergamot.config import config_id, resolve
from training.bergamot.draws import BatchSettings
from training.bergamot.export import export_lm
from training.bergamot.folder import TOKENS, make_tokens, prepare_base, sole_use
from training.bergamot.graph_encoders import GraphEncoder
from training.bergamot.hard_negatives import Near, Search, find_near
from training.bergamot.loggers import Write
from training.bergamot.model import BergamotModel
from training.bergamot.objectives import Objective
from training.bergamot.processes import Processes, joined
from training.bergamot.row_gradients import train_by_rows
from training.bergamot.token_store import TokenStore
from training.bergamot.trainer import Trainer
from training.bergamot.trainer_settings import HALF, TrainerSettings
from training.bergamot.validation import Validation
from training.errors import BergamotError, Errors
from training.preprocess.training_set import TrainingSet

CONFIG = "config.cfg"


def train(config: Config, *, device: str = "cpu") -> Path:
    """Train the language model that a config describes and export it.

    The folder paths.output gets `base/` (the LM at the start), `config.cfg`, `tokens/`,
    `checkpoints/`, `history.json`, and at the end `lm/`: a Hugging Face folder, the best by
    validation where there is one. Adapters are merged into it, and stand apart in `adapter/`.

    RETURNS (Path): The exported LM folder.
    """
    with prepared(config, device) as run:
        trainer = run.trainer()
        trainer.train()
        if run.processes.main:
            run.export(trainer)
        run.processes.wait()
    return run.output / "lm"


@contextmanager
def prepared(config: Config, device: str = "cpu") -> Iterator["Run"]:
    """Yield the run of a config with its language model and tokens in place, for sole use."""
    device = resolve_device(device)
    output = Path(config["paths"]["output"])
    output.mkdir(parents=True, exist_ok=True)
    with joined(device) as processes, sole_use(output) if processes.main else nullcontext():
        data = TrainingSet.open(Path(config["paths"]["training_set"]))
        parts = resolve(config)
        identity = config_id(config, data)
        if processes.main:
            prepare_base(
                parts["text_encoder"], data, output, identity, seed=config["system"]["seed"]
            )
            make_tokens(data, output)
            with atomic_file(output / CONFIG) as path:
                # Without this machine's paths: the same run leaves the same files anywhere.
                config.merge({"paths": dict.fromkeys(config["paths"], "")}).to_disk(path)
        processes.wait()
        yield Run(config, parts, data, output, device, identity, processes)


@dataclass(frozen=True)
class Run:
    """One run's parts, and how they are put together."""

    config: Config
    parts: dict[str, Any]
    data: TrainingSet
    output: Path
    device: str
    identity: str
    processes: Processes

    @property
    def base(self) -> Path:
        """Folder of the language model at the start."""
        return self.output / "base"

    def trainer(self) -> Trainer:
        """Build model, batches, optimiser and trainer."""
        settings = EncoderSettings.read(self.base)
        training: TrainerSettings = self.parts["training"]
        batch_settings: BatchSettings = self.parts["batches"]
        seed = self.config["system"]["seed"]
        torch.manual_seed(seed)
        model = self._model(settings, training, batch_settings).to(self.device)
        if self.processes.main:
            self._announce(model)
        batches = BatchMaker(
            self.data,
            TokenStore.open(self.output / TOKENS),
            batch_settings,
            seed=seed,
            graph=model.graph_encoder is not None,
            pad=model.lm.config.pad_token_id or 0,
            rank=self.processes.rank,
            processes=self.processes.count,
        )
        trainer = Trainer(
            model,
            self.parts["optimizer"](model),
            batches,
            training,
            output=self.output,
            device=self.device,
            config_id=self.identity,
            seed=seed,
            processes=self.processes,
            writers=self._writers(),
        )
        if search := batches.draws.search:
            trainer.find_near = lambda step, now: self._near(model, settings, search, step, now=now)
        if "validation" in self.parts:
            trainer.validation = Validation(self.parts["validation"], self.base, settings)
            trainer.keep_best = lambda step: self._export_lm("best", model.lm)
        return trainer

    def _near(
        self,
        model: BergamotModel,
        settings: EncoderSettings,
        search: Search,
        step: int,
        *,
        now: bool,
    ) -> Near:
        """Return the near names of a step, found by the main process.

        Lists of before the oldest checkpoint, which no run can go on from, are removed.
        """
        path = self.output / "near" / f"step-{step:08d}"
        if now and self.processes.main:
            tokenizer = open_tokenizer(self.base, settings.max_length)
            encoder = TextEncoder(model.lm, tokenizer, settings, device=self.device)
            with model.evaluating():
                find_near(
                    path,
                    self.data,
                    search,
                    lambda names: encoder.encode(names, progress=True),
                    seed=self.config["system"]["seed"] + step,
                    device=self.device,
                )
            oldest = min((self.output / "checkpoints").glob("step-*"), default=path)
            lists = sorted((self.output / "near").glob("step-*"))
            for old, newer in pairwise(lists):
                if newer.name <= oldest.name:
                    shutil.rmtree(old)
        self.processes.wait()
        return Near.open(path)

    def _announce(self, model: BergamotModel) -> None:
        """Say what weights, optimiser and three checkpoints take; batches come on top."""
        trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
        every = sum(p.numel() for p in model.parameters())
        announce(
            f"Training {trained / 1e6:.1f} of {every / 1e6:.1f} million weights",
            memory=4 * (every + 3 * trained),
            disk=4 * (3 * (every + 2 * trained) + 2 * every) + 40 * len(self.data.names),
            folder=self.output,
        )

    def export(self, trainer: Trainer) -> None:
        """Write lm/, and adapter/ where there is one."""
        lm = trainer.model.lm
        if is_adapted(lm):
            with atomic_folder(self.output / "adapter") as folder:
                lm.save_pretrained(folder)
                write_manifest(folder, kind="adapter", version=1)
        if trainer.validation is None:
            self._export_lm("lm", lm)
            return
        best = self.output / "best"
        check_folder(best)
        verify_files(best)
        with atomic_folder(self.output / "lm") as folder:
            shutil.copytree(best, folder, dirs_exist_ok=True)

    def _export_lm(self, name: str, lm: Any) -> None:
        export_lm(self.output / name, merged(lm), self.base, EncoderSettings.read(self.base))

    def _writers(self) -> list[Write]:
        if not self.processes.main:
            return []
        loggers = self.parts.get("loggers", {}).values()
        return [start(self.output, self.config) for start in loggers]

    def _model(
        self, settings: EncoderSettings, training: TrainerSettings, batches: BatchSettings
    ) -> BergamotModel:
        lm = open_model(self.base).float()
        if training.word_embeddings == "frozen":
            lm.get_input_embeddings().requires_grad_(False)
        if training.word_embeddings == "rows":
            train_by_rows(lm.get_input_embeddings())
        if training.activation_checkpointing:
            lm.gradient_checkpointing_enable({"use_reentrant": False})
        if "adapter" in self.parts:
            if training.activation_checkpointing:
                lm.enable_input_require_grads()
            lm = self.parts["adapter"](lm)
        if training.compile:
            lm.compile(dynamic=True)
        labels = len(self.data.relation_labels)
        model = make_model(lm, self.parts, n_relations=labels, pooling=settings.pooling)
        model.detach_neighbours = batches.detached
        model.autocast_dtype = HALF[training.autocast]
        # The packed forward pass goes round what these two change.
        model.packs &= not (training.compile or training.activation_checkpointing)
        return model


def make_model(lm: Any, parts: dict[str, Any], *, n_relations: int, pooling: str) -> BergamotModel:
    """Build the model from resolved config parts; what no objective needs is left out."""
    dim = lm.config.hidden_size
    made = {name: make(dim, n_relations) for name, make in parts["objectives"].items()}
    objectives: dict[str, Objective] = {n: o for n, o in made.items() if o.weight > 0}
    batches: BatchSettings = parts["batches"]
    for name, objective in objectives.items():
        if objective.needs and objective.needs not in batches.gives:
            raise BergamotError(Errors.B230, name=name, needs=objective.needs)
    graph_encoder: GraphEncoder | None = None
    if any(objective.needs == "graph" for objective in objectives.values()):
        graph_encoder = parts["graph_encoder"](dim, n_relations)
    return BergamotModel(lm, graph_encoder, objectives, pooling=pooling)
