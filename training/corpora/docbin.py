"""spaCy's binary data: `doc.spans["gold"]` where there is one, else `doc.ents`."""

from pathlib import Path

from spacy_bergamot.languages import LANGUAGES
from training.corpora.builder import CorpusBuilder
from training.corpora.spacy_files import GOLD


def sniff(path: Path, head: str) -> bool:
    """Tell whether a file is a DocBin; see `Form`."""
    return path.suffix == ".spacy"


def read(files: list[Path], root: Path, builder: CorpusBuilder) -> None:
    """Read DocBins; concepts are the spans' kb_id, several joined by | (any) or + (together).

    RAISES (BergamotError): B002 for a file that is no DocBin.
    """
    from spacy.vocab import Vocab

    from spacy_bergamot.annotate.sources import docs_of

    for path in files:
        for number, doc in enumerate(docs_of(path, Vocab()), start=1):
            document = doc.user_data.get("document", f"{path.stem}-{number}")
            language = doc.user_data.get("language", LANGUAGES.get(doc.lang_, ""))
            place = f"{path} document {number}"
            builder.document(document, doc.text, language=language, place=place)
            for span in doc.spans.get(GOLD, doc.ents):
                builder.mention(
                    document,
                    None,
                    span.kb_id_.replace("+", "|").split("|"),
                    place=place,
                    spans=[(span.start_char, span.end_char)],
                    type=span.label_,
                    all_of="+" in span.kb_id_,
                )
