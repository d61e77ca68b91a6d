"""What commands import, and what spaCy and transformers import when a pipeline is first loaded."""

import gc
from importlib import import_module

import spacy
import spacy.cli
from transformers import BertModel, XLMRobertaModel

import spacy_bergamot.pipeline.build
from training.__main__ import COMMANDS

__all__ = ["BertModel", "XLMRobertaModel", "spacy", "spacy_bergamot"]

for _command in COMMANDS.values():
    import_module(_command.partition(":")[0])
spacy.blank("xx")  # it asks every installed package what it registers
gc.freeze()  # what all have in common is not looked through, and so not copied, in every fork
