"""An S3 server on this machine (moto), which `make test-engines` installs apart from the other packages."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from ugraphemb.files import remote
from ugraphemb.workers import naming

BESIDE = Path(__file__).resolve().parents[2] / "build" / "s3" / "bin" / "moto_server"
SERVER = shutil.which("moto_server") or (str(BESIDE) if BESIDE.exists() else None)
needs_server = pytest.mark.skipif(
    SERVER is None and os.environ.get("UGRAPHEMB_ENGINES") != "required", reason="moto_server is not installed"
)


@contextmanager
def bucket_of_server(folder: Path) -> Iterator[str]:
    """The URL of a bucket; the environment names the server meanwhile."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (folder / "log").open("wb")
    server = subprocess.Popen([str(SERVER), "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    settings = {"AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
                "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}  # fmt: skip
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    _drop_processes()  # those of other tests do not know the address
    try:
        end = time.monotonic() + 600
        while True:
            try:
                urlopen(Request(f"{address}/molecules", method="PUT"), timeout=60).close()
                break
            except OSError:
                assert server.poll() is None, "the server ended"
                assert time.monotonic() < end, "no server"
                time.sleep(0.1)
        yield "s3://molecules"
    finally:
        _drop_processes()
        remote._arrow_system.cache_clear()
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
        server.kill()
        server.wait(60)
        log.close()


def _drop_processes() -> None:
    for size, pool in list(naming._pools.items()):
        naming.drop_pool(size, pool)
