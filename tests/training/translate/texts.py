"""A document whose mentions touch, nest and cross."""

from training.corpora.builder import CorpusBuilder
from training.corpora.schema import Corpus

TEXT = "He has breast cancer [1] and fever. No  acute heart attack today.\n\nEnd."
MENTIONS = {"breast cancer": "C1", "breast": "C2", "fever": "C3", "acute heart attack": "C4",
            "heart attack today": "C5"}  # fmt: skip
WORDS = {"fever": "fièvre", "heart": "cœur", "breast cancer": "cancer du sein", "He has": "Il a"}


def corpus_of(text: str, mentions: dict[str, str]) -> Corpus:
    builder = CorpusBuilder("it", "ENG")
    builder.document("d", text)
    for mention, concept in mentions.items():
        start = text.index(mention)
        span = (start, start + len(mention))
        builder.mention("d", mention, [concept], place="", spans=[span], type="DISO")
    return builder.build()
