"""Coded messages of re-ranking."""

from spacy_bergamot import errors
from spacy_bergamot.errors import BergamotError

__all__ = ["BergamotError", "Errors", "Warnings"]


class Errors(errors.Errors):
    """B146 to B150, B181 to B185: re-ranking; B190: filters. The codes of the package as well."""

    B146 = (
        "The reranker of '{name}' was trained, and its files are missing. Give them in "
        "[initialize.components.{name}.reranker], spacy_bergamot.Reranker.v1, with the folder that "
        "training made; or set rerank to null."
    )
    B148 = (
        "The reranker of '{name}' was trained on the candidates of {trained}, and the linker's "
        "generator is {found}. Take that generator, or train the reranker again."
    )
    B149 = (
        "{path} has no weights that fit: {reason}. Train it again with this version: "
        "python -m training {command} PIPELINE CORPUS OUTPUT"
    )
    B150 = (
        "The tokenizer puts nothing between two texts, so that a cross-encoder cannot tell mention "
        "and candidate apart. Take a language model whose tokenizer ends texts with a token."
    )
    B181 = (
        "The url of the language model reranker cannot be used: {reason}. Give the server's base, "
        "such as http://127.0.0.1:8080/v1; a key goes into the variable that key_env names."
    )
    B182 = (
        "The language model reranker would send texts to '{host}', which is not this machine. Give "
        "a server on 127.0.0.1, or set allow_remote to true if texts may go there."
    )
    B183 = (
        "The environment variable that key_env of the language model reranker names {reason}. "
        "Set it to the server's key where the pipeline runs."
    )
    B184 = (
        "The language model at {host} left {failed} of {asked} questions without answer: "
        "{reasons}. Start it, or correct url, model and constraint; or set on_error to keep."
    )
    B185 = (
        "{path} cannot keep the answers of the language model: {reason}. Remove it, or give "
        "another cache_path."
    )
    B190 = (
        "types_by_label is '{value}'. Give semantic types or groups by label, such as "
        '{{"DISEASE": ["DISO"]}}, or "{known}" for the labels of common NER models.'
    )


class Warnings(errors.Warnings):
    """What deserves a look but stops nothing."""

    W180 = (
        "The language model at {host} left {failed} of {asked} questions without answer: "
        "{reasons}. Those mentions keep their candidates as they were. This is said once; later "
        "ones are in the reranker's counts."
    )
