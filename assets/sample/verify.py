"""Compare the sample's CUIs, which were written by hand, with those of an open knowledge base.

    python assets/sample/verify.py SAMPLE OPEN

Both are concept tables, from `python -m spacy bergamot kb`. Where the open one has a concept or an
English name too, this tells whether both give it the same CUI; an error if a name that is no
abbreviation is another concept's there.
"""

import json
import sys
from pathlib import Path

import polars as pl

from spacy_bergamot.kb.concept_table import ConceptTable


def english(folder: Path) -> pl.DataFrame:
    """Return cui, alias, its normal form as name, and term_type of every English name."""
    table = ConceptTable.open(folder)
    aliases = pl.DataFrame(pl.from_arrow(table.aliases))
    cuis = pl.Series(table.concepts["concept_id"].to_pylist())[aliases["concept"]]
    name = pl.col("alias").str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    rows = aliases.with_columns(cui=cuis, name=name, term_type=pl.col("term_type").cast(pl.String))
    return rows.filter(pl.col("language") == "ENG", pl.col("cui").str.contains(r"^C\d{7}$"))


def main(sample: Path, open_kb: Path) -> int:
    """Print what was found, in the last line as JSON; return the exit status."""
    ours, theirs = english(sample), english(open_kb)
    agreeing = ours.join(theirs, on=["cui", "name"], how="semi")
    others = theirs.group_by("name").agg(pl.col("cui").unique().sort().alias("there"))
    differing = ours.join(agreeing, on=["cui", "name"], how="anti").join(others, on="name")
    # A name that the sample also gives to a concept of theirs has only a sense more here.
    contradicting = differing.join(agreeing, on="name", how="anti")
    wrong = contradicting.filter(pl.col("term_type") != "AB")
    for row in contradicting.sort("name").iter_rows(named=True):
        print(f"{row['alias']} ({row['term_type']}): {row['cui']} here, {row['there']} there")
    known = ours.join(theirs, on="cui", how="semi")["cui"].n_unique()
    counts = {
        "cuis": ours["cui"].n_unique(),
        "cuis_known": known,
        "confirmed": agreeing["cui"].n_unique(),
        "names": len(ours),
        "names_known": len(agreeing) + len(differing),
        "agreeing": len(agreeing),
        "other_sense": len(differing) - len(contradicting),
        "contradicting_abbreviations": len(contradicting) - len(wrong),
        "contradicting": len(wrong),
    }
    print(json.dumps(counts))
    return 1 if len(wrong) else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:3])))
