"""Fine-tuning of a language model on pairs of texts, through transformers' Trainer."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spacy_bergamot.encoder.text_encoder import check_folder
from spacy_bergamot.storage.scratch import Scratch
from training.errors import BergamotError, Errors
from training.tasks.records import Record
from training.tasks.scores import scores


@dataclass(frozen=True)
class FinetuneSettings:
    """How a language model is fine-tuned; lengths in tokens."""

    epochs: float = 3
    rate: float = 2e-5
    batch: int = 16
    max_length: int = 512
    device: str = "cpu"


def finetune(
    lm: Path,
    train: Sequence[Record],
    test: Sequence[Record],
    *,
    settings: FinetuneSettings,
    seed: int = 0,
    save: Path | None = None,
) -> dict[str, Any]:
    """Fine-tune all weights on `train`; return scores on `test`, see `scores`.

    save (Path | None): Folder for the fine-tuned model.
    RAISES (BergamotError): T155 if `train` has fewer than two labels, or `test` one it has not.
    """
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        DataCollatorWithPadding,
        Trainer,
        TrainingArguments,
        set_seed,
    )

    labels = sorted({record.label for record in train})
    unknown = sorted({record.label for record in test} - set(labels))
    if len(labels) < 2 or unknown:
        raise BergamotError(
            Errors.T155, labels=", ".join(labels), unknown=", ".join(unknown) or "none"
        )
    check_folder(lm)
    set_seed(seed)
    tokenizer = AutoTokenizer.from_pretrained(lm, local_files_only=True, trust_remote_code=False)
    model = AutoModelForSequenceClassification.from_pretrained(
        lm,
        local_files_only=True,
        trust_remote_code=False,
        num_labels=len(labels),
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    ).float()
    limit = getattr(model.config, "max_position_embeddings", settings.max_length)
    # RoBERTa's positions start after the padding id.
    longest = min(settings.max_length, limit - 2)
    encoded = [_encode(tokenizer, side, labels, longest) for side in (train, test)]
    with Scratch() as folder:
        trainer: Any = Trainer(
            model=model,
            args=TrainingArguments(
                output_dir=str(folder),
                num_train_epochs=settings.epochs,
                learning_rate=settings.rate,
                per_device_train_batch_size=settings.batch,
                per_device_eval_batch_size=settings.batch,
                warmup_ratio=0.1,
                weight_decay=0.01,
                seed=seed,
                save_strategy="no",
                logging_strategy="no",
                report_to=[],
                disable_tqdm=True,
                use_cpu=settings.device == "cpu",
            ),
            train_dataset=encoded[0],
            data_collator=DataCollatorWithPadding(tokenizer),
        )
        trainer.train()
        logits = trainer.predict(encoded[1]).predictions
        if save is not None:
            trainer.save_model(str(save))
            tokenizer.save_pretrained(save)
    guessed = [labels[number] for number in np.asarray(logits).argmax(1).tolist()]
    return scores([record.label for record in test], guessed)


def _encode(
    tokenizer: Any, records: Sequence[Record], labels: list[str], longest: int
) -> list[dict[str, Any]]:
    """Tokenise pairs; the text beside the question is cut first."""
    return [
        {
            **tokenizer(
                record.first, record.second, truncation="longest_first", max_length=longest
            ),
            "labels": labels.index(record.label),
        }
        for record in records
    ]
