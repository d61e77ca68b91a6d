"""`python -m training wikidata`: names in many languages for concepts that have a UMLS CUI.

Wikidata's property P2892 holds CUIs; labels and aliases are CC0. Pages are kept as they come, so
that a run goes on where it was; the reader turns them into rows of MRCONSO.
"""

import json
import logging
import re
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Annotated, Any

import requests
import typer
from tqdm import tqdm

from spacy_bergamot import __version__
from spacy_bergamot.kb_import.release import find_tables
from spacy_bergamot.kb_import.rrf import RrfTable
from spacy_bergamot.kb_import.rrf_writer import write_rrf
from spacy_bergamot.languages import LANGUAGES, iso
from spacy_bergamot.storage.files import write_text
from spacy_bergamot.text import comma_separated, has_letters, normalize
from training.download.client import TRIES
from training.errors import BergamotError, Errors

SERVER = "https://query.wikidata.org/sparql"
SOURCE = "WIKIDATA"

_ITEMS = "SELECT ?item ?cui WHERE {{ ?item wdt:P2892 ?cui }} ORDER BY ?item LIMIT {n} OFFSET {o}"
_NAMES = (
    "SELECT ?item ?kind ?name WHERE {{ VALUES ?item {{ {items} }} "
    'VALUES (?p ?kind) {{ (rdfs:label "PT") (skos:altLabel "SY") }} ?item ?p ?name . '
    "FILTER(LANG(?name) IN ({languages})) }} ORDER BY ?item ?kind ?name"
)
_SAME = {"TS": "S", "STT": "PF", "ISPREF": "N", "SAB": SOURCE, "SRL": "0", "SUPPRESS": "N"}
"""Values of MRCONSO that all rows have."""
_CUI = re.compile(r"C\d{7}")

logger = logging.getLogger(__name__)


def wikidata_cli(
    output: Annotated[Path, typer.Argument(help="Folder for the pages and MRCONSO.RRF")],
    languages: Annotated[str, typer.Option(help="Such as ru,ko,th,fi or RUS,KOR")] = "ru,ko,th,fi",
    into: Annotated[
        Path | None, typer.Option(help="A META folder: keep only its concepts and skip its names")
    ] = None,
    page: Annotated[int, typer.Option(min=1, help="Items a query")] = 5000,
    pause: Annotated[float, typer.Option(min=0, help="Seconds between queries")] = 1.0,
) -> None:
    """Fetch names of concepts from Wikidata (CC0) and write them as rows of MRCONSO.

    With `--into META` append MRCONSO.RRF's lines to META's own: cat OUTPUT/MRCONSO.RRF >>
    META/MRCONSO.RRF.
    """
    codes = [iso(code) for code in comma_separated(languages)]
    counts = fetch_names(output, codes, into=into, page=page, pause=pause)
    typer.echo(", ".join(f"{n} {what}" for what, n in sorted(counts.items())))


def fetch_names(
    output: Path,
    languages: list[str],
    *,
    into: Path | None = None,
    page: int = 5000,
    batch: int = 200,
    pause: float = 1.0,
    server: str = SERVER,
) -> Counter[str]:
    """Fetch what is missing of the pages, write MRCONSO.RRF; return counts of kept and dropped.

    RAISES (BergamotError): B014 for an unknown language, T402 if the server gives no answer.
    """
    unknown = [code for code in languages if code not in LANGUAGES]
    if unknown:
        choices = ", ".join(sorted(LANGUAGES))
        raise BergamotError(Errors.B014, what="language", value=", ".join(unknown), choices=choices)
    client = _Client(server, pause)
    items = _items(client, output / "items", page)
    names: list[dict[str, str]] = []
    rows = sorted(items)
    for start in tqdm(range(0, len(rows), batch), desc="Names", unit=" pages"):
        part = rows[start : start + batch]
        query = _NAMES.format(
            items=" ".join(f"wd:{item}" for item in part),
            languages=", ".join(f'"{code}"' for code in sorted(languages)),
        )
        tag = "-".join(sorted(languages))
        names += client.page(output / "names" / f"{tag}-{start:08d}.json", query)
    return _write(output, names, items, into)


class _Client:
    """Ask a SPARQL service, politely; an answer that is on disk is not asked for again."""

    def __init__(self, server: str, pause: float) -> None:
        self.server = server
        self.pause = pause

    def page(self, path: Path, query: str) -> list[dict[str, str]]:
        if path.is_file():
            try:
                kept = json.loads(path.read_text(encoding="utf8"))
                if kept["query"] == query:
                    return kept["rows"]
            except (ValueError, KeyError, TypeError):
                logger.warning("%s is broken; asking again", path)
        rows = [
            {name: _value(cell) for name, cell in row.items()}
            | {"lang": row.get("name", {}).get("xml:lang", "")}
            for row in self._ask(query)
        ]
        write_text(path, json.dumps({"query": query, "rows": rows}))
        return rows

    def _ask(self, query: str) -> list[dict[str, Any]]:
        agent = f"spacy_bergamot/{__version__} (concept names by CUI)"
        headers = {"Accept": "application/sparql-results+json", "User-Agent": agent}
        for attempt in range(TRIES):
            wait = self.pause * 2**attempt
            time.sleep(self.pause if not attempt else wait)
            try:
                response = requests.post(
                    self.server, data={"query": query}, headers=headers, timeout=120
                )
                if response.status_code == 429:
                    time.sleep(float(response.headers.get("Retry-After", wait)))
                    continue
                response.raise_for_status()
                return response.json()["results"]["bindings"]
            except (requests.RequestException, ValueError, KeyError) as reason:
                logger.warning("Wikidata: %s, try %d of %d", reason, attempt + 1, TRIES)
        raise BergamotError(Errors.T402, name="Wikidata", tries=TRIES, path="the pages so far")


def _items(client: _Client, folder: Path, page: int) -> dict[str, set[str]]:
    """Return {item: CUIs} of every item that has one."""
    items: dict[str, set[str]] = defaultdict(set)
    offset = 0
    while True:
        query = _ITEMS.format(n=page, o=offset)
        rows = client.page(folder / f"{page}-{offset:08d}.json", query)
        for row in rows:
            if _CUI.fullmatch(row.get("cui", "")):
                items[row["item"]].add(row["cui"])
        if len(rows) < page:
            return items
        offset += page


def _write(
    output: Path, names: list[dict[str, str]], items: dict[str, set[str]], into: Path | None
) -> Counter[str]:
    """Write rows of MRCONSO, sorted; drop what a concept has already, case and spacing aside."""
    known, concepts = _known(into) if into else (set(), None)
    counts: Counter[str] = Counter()
    rows = set()
    # One CUI for one item: an item with several, or a CUI of several items, is ambiguous.
    owners = Counter(cui for cuis in items.values() for cui in cuis)
    for row in names:
        cuis = items.get(row.get("item", ""), set())
        cui = next(iter(cuis), "")
        language, text = LANGUAGES.get(row["lang"]), _clean(row.get("name", ""))
        if len(cuis) != 1 or owners[cui] != 1:
            counts["dropped: several CUIs or items"] += 1
        elif language is None or not has_letters(text):
            counts["dropped: no letters"] += 1
        elif concepts is not None and cui not in concepts:
            counts["dropped: concept not in the table"] += 1
        elif (cui, language, normalize(text)) in known:
            counts["dropped: known already"] += 1
        else:
            known.add((cui, language, normalize(text)))
            rows.add((cui, language, row["kind"], row["item"], text))
            counts["kept"] += 1
    columns = ("CUI", "LAT", "TTY", "CODE", "STR")
    write_rrf(
        output,
        {"MRCONSO": ({**_SAME, **dict(zip(columns, row, strict=True))} for row in sorted(rows))},
    )
    return counts


def _known(meta: Path) -> tuple[set[tuple[str, str, str]], set[str]]:
    """Return (CUI, language, normal form) of a release's names, and its CUIs."""
    conso = RrfTable("MRCONSO", find_tables(meta)["MRCONSO"], max_malformed=1)
    known = {
        (cui, language, normalize(text))
        for rows in conso.batches("CUI", "LAT", "STR")
        for cui, language, text in rows.iter_rows()
    }
    return known, {cui for cui, _, _ in known}


def _clean(text: str) -> str:
    """Return a name as a field of RRF: no separator, no line end."""
    return " ".join(text.replace("|", " ").split())


def _value(cell: dict[str, Any]) -> str:
    return str(cell.get("value", "")).removeprefix("http://www.wikidata.org/entity/")
