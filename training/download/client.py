"""Downloads that resume, retry and never show a secret."""

import errno
import json
import logging
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import requests
from tqdm import tqdm

from spacy_bergamot.storage.files import write_text
from training.errors import BergamotError, Errors

TRIES = 6
_PIECE = 1 << 16
_TIMEOUT = 60
_DIGITS = 18
_NO_ADDRESS = (
    requests.exceptions.InvalidURL,
    requests.exceptions.InvalidSchema,
    requests.TooManyRedirects,
)

logger = logging.getLogger(__name__)
# Its debug messages show whole URLs, secrets and all, and so does its warning of a broken header.
logging.getLogger("urllib3").setLevel(logging.ERROR)
_SENSELESS = (
    "the server's answer has a {} that makes no sense. Try again later, and look whether a proxy "
    "changes answers"
)


def download(
    url: str,
    path: Path,
    *,
    name: str,
    secrets: dict[str, str] | None = None,
    explain: Callable[[requests.Response], str | None] = lambda response: None,
    pause: float = 2.0,
) -> Path:
    """Fetch a file to `path`; a broken connection or a killed run goes on where it was.

    The bytes so far lie in `path`.part, with the server's mark of the file's version beside it.

    name (str): What errors and logs call it; the URL with its secrets is never shown.
    secrets (dict): Query parameters that are added to the URL.
    explain (Callable): Says what a response that is no file means, or None.
    pause (float): Seconds before the second try; each next one waits twice as long.
    RAISES (BergamotError): T401 refused, not the file, or an answer that makes no sense; T402 given
        up, B007 disk too small.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    for attempt in range(TRIES):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        try:
            if _fetch(url, part, name=name, secrets=secrets or {}, explain=explain):
                os.replace(part, path)
                _mark(part).unlink(missing_ok=True)
                return path
        except (requests.RequestException, ConnectionError) as reason:
            # The text of these errors holds the URL, and so the secret.
            logger.warning("%s: %s, try %d of %d", name, type(reason).__name__, attempt + 1, TRIES)
        except OSError as reason:
            if reason.errno in (errno.ENOSPC, errno.EDQUOT):
                raise _no_room(part.parent) from None
            raise
    raise BergamotError(Errors.T402, name=name, tries=TRIES, path=part)


def _fetch(
    url: str,
    part: Path,
    *,
    name: str,
    secrets: dict[str, str],
    explain: Callable[[requests.Response], str | None],
) -> bool:
    """Append what is missing; return whether the file is whole."""
    have = part.stat().st_size if part.is_file() else 0
    version = json.loads(_mark(part).read_text()) if _mark(part).is_file() else None
    headers = {"Range": f"bytes={have}-", "If-Range": version} if have and version else {}
    with _answer(url, secrets, headers, name=name) as response:
        if response.status_code == 416:  # nothing is missing
            return True
        if response.status_code in (429, 500, 502, 503, 504):
            raise ConnectionError(response.status_code)
        why = explain(response)
        if response.status_code not in (200, 206) or why:
            reason = why or f"the server answers {response.status_code}"
            raise BergamotError(Errors.T401, name=name, reason=reason)
        resumed = response.status_code == 206
        have = have if resumed else 0
        total = have + _length(response, name=name)
        free = shutil.disk_usage(part.parent).free
        if total - have > free:
            raise _no_room(part.parent, total)
        mark = response.headers.get("ETag") or response.headers.get("Last-Modified")
        if mark:
            write_text(_mark(part), json.dumps(mark))
        with (
            part.open("ab" if resumed else "wb") as out,
            tqdm(total=total or None, initial=have, desc=name, unit="B", unit_scale=True) as bar,
        ):
            for piece in response.iter_content(_PIECE):
                out.write(piece)
                bar.update(len(piece))
            out.flush()
            os.fsync(out.fileno())
    return not total or part.stat().st_size >= total


def _answer(
    url: str, secrets: dict[str, str], headers: dict[str, str], *, name: str
) -> requests.Response:
    """Ask for a file. RAISES (BergamotError): T401 if the server sends us to no address."""
    try:
        return requests.get(url, params=secrets, headers=headers, stream=True, timeout=_TIMEOUT)
    except _NO_ADDRESS:
        pass
    except requests.RequestException:
        raise
    except ValueError:
        pass
    # Not from the error: its text may hold the URL, and so the secret.
    raise BergamotError(Errors.T401, name=name, reason=_SENSELESS.format("Location"))


def _length(response: requests.Response, *, name: str) -> int:
    """Return the bytes that are announced, 0 if none are. RAISES (BergamotError): T401."""
    text = response.headers.get("Content-Length", "0")
    if not (text.isascii() and text.isdigit() and len(text) < _DIGITS):
        raise BergamotError(Errors.T401, name=name, reason=_SENSELESS.format("Content-Length"))
    return int(text)


def _no_room(folder: Path, needed: int = 0) -> BergamotError:
    free = f"{shutil.disk_usage(folder).free >> 20} MiB are free"
    more = f", {needed >> 20} are needed" if needed else ""
    return BergamotError(Errors.B007, path=folder, reason=f"{free}{more}; what came is kept")


def _mark(part: Path) -> Path:
    return part.with_name(part.name + ".version")
