"""`python -m training download`: a Metathesaurus release from the National Library of Medicine."""

import os
import re
import zipfile
from pathlib import Path
from typing import Annotated

import requests
import typer

from training.download.client import download
from training.errors import BergamotError, Errors

KEY = "UMLS_API_KEY"
SERVER = "https://uts-ws.nlm.nih.gov/download"
FILE = "https://download.nlm.nih.gov/umls/kss/{release}/umls-{release}-metathesaurus-full.zip"
LICENCE = (
    "The UMLS Metathesaurus is licensed, not free: you need a UMLS licence, some of its sources "
    "restrict use further, and models or pipelines that carry its names may not be passed on.\n"
    "https://www.nlm.nih.gov/research/umls/knowledge_sources/metathesaurus/release/"
    "license_agreement.html"
)


def download_cli(
    output: Annotated[Path, typer.Argument(help="Folder for the archive")] = Path("assets/umls"),
    release: Annotated[str, typer.Option(help="Such as 2025AB")] = "2025AB",
) -> None:
    """Fetch a UMLS release with your key in the environment variable UMLS_API_KEY.

    The key is read from the environment and never shown or stored. A broken download goes on
    where it was. Give the archive to `preprocess` as it is.
    """
    typer.echo(LICENCE)
    typer.echo(f"Archive: {fetch_release(release, output)}")


def fetch_release(release: str, folder: Path, *, server: str = SERVER, pause: float = 2.0) -> Path:
    """Fetch and verify a release's archive; return its path. One that is there is not fetched.

    RAISES (BergamotError): T405 without a key, T406 for a release's wrong name, T401 for a key
        that is refused or a release that does not exist, T401 for a broken archive.
    """
    if not re.fullmatch(r"20\d\d(AA|AB)", release):
        raise BergamotError(Errors.T406, value=release)
    path = folder / f"umls-{release}-metathesaurus-full.zip"
    if path.is_file() and _is_whole(path):
        return path
    key = os.environ.get(KEY, "").strip()
    if not key:
        raise BergamotError(Errors.T405, key=KEY)
    download(
        server,
        path,
        name=f"UMLS {release}",
        secrets={"url": FILE.format(release=release), "apiKey": key},
        explain=lambda response: _explain(response, release),
        pause=pause,
    )
    if not _is_whole(path):
        path.unlink()
        reason = "its checksums do not fit. Run the same command again"
        raise BergamotError(Errors.T401, name=f"UMLS {release}", reason=reason)
    return path


def _explain(response: requests.Response, release: str) -> str | None:
    if response.status_code in (401, 403):
        return f"the key in {KEY} is not accepted; your profile at uts.nlm.nih.gov shows it"
    if response.status_code == 404:
        return f"there is no release {release}, or not yet"
    if response.ok and response.headers.get("Content-Type", "").startswith("text/html"):
        return f"it answers with a web page; check {KEY} and that your licence is current"
    return None


def _is_whole(path: Path) -> bool:
    """Return whether every member of the archive fits its checksum."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (zipfile.BadZipFile, OSError, EOFError):
        return False
