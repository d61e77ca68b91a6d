"""The readers by the name of their format, and which of them fits a path."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spacy_bergamot.languages import LANGUAGES
from training.corpora import (
    brat,
    concept_files,
    docbin,
    mantra,
    marked,
    pubtator,
    records,
    spans_tables,
    term_lists,
)
from training.corpora.builder import CorpusBuilder
from training.corpora.schema import Corpus
from training.corpora.text import head
from training.errors import BergamotError, Errors, check_choice

_SHOWN = 5


@dataclass(frozen=True)
class Form:
    """A format: which files have it, and what reads them.

    sniff (Callable): Takes a file's path and first characters; true if the file is of the format.
    read (Callable): Takes the files, the folder they are in and the builder to fill.
    language (str): Of the corpora that come in it, where they are all in one.
    """

    sniff: Callable[[Path, str], bool]
    read: Callable[[list[Path], Path, CorpusBuilder], None]
    language: str = "ENG"


FORMS = {
    "mantra": Form(mantra.sniff, mantra.read),
    "brat": Form(brat.sniff, brat.read),
    "pubtator": Form(pubtator.sniff, pubtator.read),
    "concept": Form(concept_files.sniff, concept_files.read),
    "xlbel": Form(term_lists.sniff_xlbel, term_lists.read_xlbel),
    "cometa": Form(term_lists.sniff_cometa, term_lists.read_cometa),
    "cometa-specific": Form(lambda *_: False, term_lists.read_cometa_specific),
    "askapatient": Form(term_lists.sniff_askapatient, term_lists.read_askapatient),
    "codiesp": Form(spans_tables.sniff_codiesp, spans_tables.read_codiesp, "SPA"),
    "distemist": Form(spans_tables.sniff_distemist, spans_tables.read_distemist, "SPA"),
    "bionne": Form(spans_tables.sniff_bionne, spans_tables.read_bionne),
    "bigbio": Form(records.sniff_bigbio, records.read_bigbio),
    "gold": Form(records.sniff_gold, records.read_gold),
    "marked": Form(marked.sniff, marked.read),
    "spacy": Form(docbin.sniff, docbin.read),
}


def read_corpus(path: Path | str, form: str | None = None, language: str = "") -> Corpus:
    """Read a corpus from a file, or from all files of one format in a folder.

    form (str | None): Name in FORMS; found out from suffix and content where not given.
    language (str): Of what does not say its own: ENG or en, and so on. Where not given, the one of
        the format's corpora.
    RAISES (BergamotError): T102 and B049 for a file that cannot be read, B014 for an unknown form,
        T123 and T124 if none or several fit, B014 for an unknown language, B057 or B002 for a
        broken file.
    """
    path = Path(path)
    if form is not None:
        check_choice("form of corpus", form, FORMS)
    if not path.exists():
        raise BergamotError(Errors.T102, path=path, reason="it does not exist")
    form, files = _chosen(path, form)
    builder = CorpusBuilder(
        path.name.partition(".")[0], lat(language) if language else FORMS[form].language
    )
    FORMS[form].read(files, path if path.is_dir() else path.parent, builder)
    return builder.build()


def lat(language: str) -> str:
    """Return a language's code as MRCONSO.RRF has it. RAISES (BergamotError): B014."""
    code = LANGUAGES.get(language.lower(), language.upper())
    if code not in LANGUAGES.values():
        choices = f"{', '.join(sorted(set(LANGUAGES.values())))}, or its ISO 639-1 code"
        raise BergamotError(Errors.B014, what="language", value=language, choices=choices)
    return code


def _chosen(path: Path, form: str | None) -> tuple[str, list[Path]]:
    """Return the form and its files."""
    if path.is_file() and form:
        return form, [path]
    files = [path] if path.is_file() else sorted(f for f in path.rglob("*") if f.is_file())
    fitting: dict[str, list[Path]] = {}
    for file in files:
        start = head(file)
        for name, known in FORMS.items():
            if known.sniff(file, start):
                fitting.setdefault(name, []).append(file)
    if form and path.is_dir():
        base = form.partition("-")[0]
        fitting = {form: fitting[base]} if base in fitting else {}
    if not fitting:
        shown = ", ".join(str(file.relative_to(path)) for file in files[:_SHOWN])
        listed = shown + (" …" if len(files) > _SHOWN else "") if path.is_dir() else path.name
        form = form or "a known form"
        raise BergamotError(Errors.T123, path=path, form=form, files=listed or "nothing")
    if len(fitting) > 1:
        raise BergamotError(Errors.T124, path=path, forms=", ".join(fitting))
    return next(iter(fitting.items()))
