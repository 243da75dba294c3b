"""Files from the network: bounded in size and time, never downgraded to plain HTTP, verified by a stored checksum."""

from __future__ import annotations

import hashlib
import shutil
import time
from http.client import HTTPException, HTTPMessage, HTTPResponse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, BinaryIO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ugraphemb.errors import GraphFormatError, UGraphEmbError
from ugraphemb.files import write_file
from ugraphemb.graphs.archive import Archive
from ugraphemb.graphs.collector import Reading
from ugraphemb.graphs.formats.tu import read_tu
from ugraphemb.graphs.limits import VARIABLE, limits
from ugraphemb.progress import progress_of

_SILENCE = 30.0  # seconds without a byte
_BLOCK = 1 << 16


class DownloadError(Exception):
    """The reason why there is no file, as part of a sentence."""


def downloaded(url: str, target: Path) -> Reading:
    """The TU data set at `url`, which then stands at `target`, whole, with its SHA-256 beside it; or not at all.

    Every process downloads its own copy; a verified copy is moved into place atomically, and the last one wins.

    Raises:
        DownloadError: The download failed, or the file differs from the one first downloaded.
    """
    try:
        with TemporaryDirectory(prefix="ugraphemb-") as folder:
            draft = Path(folder) / target.name
            with _opened(url) as answer, draft.open("wb") as file:
                found = _copy(answer, file, url)
            known = recorded(target)
            if known is not None and known != found:
                raise DownloadError(
                    f"{url} sent another file than when it was first downloaded (SHA-256 {found[:16]}..., "
                    f"{known[:16]}... then); remove {checksum_path(target)} to accept it"
                )
            try:
                with Archive(draft) as archive:
                    archive.verify()
                reading = read_tu.reading(draft)
            except GraphFormatError as error:
                reason = str(error).replace(str(draft), target.name)
                raise DownloadError(f"the file from {url} cannot be used: {reason}") from error
            with draft.open("rb") as source:
                write_file(target, lambda file: shutil.copyfileobj(source, file, 1 << 20))
            write_file(checksum_path(target), f"{found}  {target.name}\n".encode())
            return reading
    except HTTPError as error:
        error.close()
        raise DownloadError(f"{url} answered {error.code} {error.reason}") from error
    except URLError as error:
        raise DownloadError(f"{url} cannot be reached: {error.reason}") from error
    except (HTTPException, OSError, ValueError, UGraphEmbError) as error:
        raise DownloadError(f"the download of {url} failed: {error or type(error).__name__}") from error


def checksum_path(target: Path) -> Path:
    """Where the SHA-256 of a download is kept, in the form of sha256sum."""
    return target.with_name(f"{target.name}.sha256")


def recorded(target: Path) -> str | None:
    """The SHA-256 that was noted when the file was downloaded, or None."""
    try:
        text = checksum_path(target).read_text("ascii")
    except (OSError, ValueError):
        return None
    found = text.partition(" ")[0]
    return found if len(found) == 64 else None


def check_download(path: Path) -> None:
    """Checks that a downloaded file is unchanged; files that were not downloaded are not checked.

    Raises:
        GraphFormatError: It is not.
    """
    known = recorded(path)
    if known is None:
        return
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _digest(file)
    if found != known:
        raise GraphFormatError(
            f"{path}: not the file that was downloaded (SHA-256 {found[:16]}..., {known[:16]}... was recorded in "
            f"{checksum_path(path).name}); remove both to download it again"
        )


def _digest(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


class _Redirects(HTTPRedirectHandler):
    """Follows redirects, but never from https to anything else."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        if req.type == "https" and urlsplit(newurl).scheme != "https":
            raise DownloadError(f"{req.full_url} redirects to {newurl}, which is not protected as https is")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opened(url: str) -> Any:
    request = Request(url, headers={"User-Agent": "ugraphemb"})
    return build_opener(_Redirects).open(request, timeout=_SILENCE)


def _copy(answer: HTTPResponse, file: BinaryIO, url: str) -> str:
    """Writes what the server sends and returns its SHA-256."""
    most, seconds = limits().download, limits().seconds
    began = time.monotonic()
    length = answer.headers.get("Content-Length", "")
    expected = int(length) if length.isascii() and length.isdecimal() and len(length) < 20 else None
    received = 0
    digest = hashlib.sha256()
    with progress_of(expected, url.rpartition("/")[2], None, unit="bytes") as tick:
        while True:
            if max(received, expected or 0) > most:
                raise DownloadError(f"{url} sends more than {most} bytes ({VARIABLE}=download=NUMBER raises the limit)")
            if time.monotonic() - began > seconds:
                raise DownloadError(f"{url} took longer than {seconds} s ({VARIABLE}=seconds=NUMBER raises the limit)")
            block = answer.read1(_BLOCK)  # reads what has arrived, so that a slow server cannot exceed the time limit
            if not block:
                break
            file.write(block)
            digest.update(block)
            received += len(block)
            tick(received)
    if expected is not None and received != expected:
        raise DownloadError(f"{url} sent {received} bytes of {expected}, then stopped")
    return digest.hexdigest()
