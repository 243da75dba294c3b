"""`ugraphemb serve`."""

from __future__ import annotations

import signal
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn
from urllib.parse import urlsplit

import click

from ugraphemb.cli.arrays import user_errors
from ugraphemb.cli.index import THREADS
from ugraphemb.search.engines import is_url

MOLECULES = "molecules"


@click.command("serve")
@click.argument("index")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 selects a free port.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need a --token.")
@click.option("--token", metavar="TEXT", help="Token that clients must send; 'new' creates one.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="A name by which clients may address this server.")
@click.option("--writable", is_flag=True, help="Let clients add and remove graphs.")
@click.option("--name", "called", metavar="TEXT", help="Name of the collection on the page; by default the folder's.")
@click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
@THREADS
def command(
    index: str,
    port: int,
    host: str,
    token: str | None,
    allow_host: tuple[str, ...],
    writable: bool,
    called: str | None,
    open_page: bool,
    threads: int,
) -> None:
    """Serve an INDEX as a page with a map, search and edits, and as an HTTP API.

    INDEX is a folder that `ugraphemb index` wrote; the URL of a database, of which a copy is served as it was at the
    start; or `molecules`: 4,999 molecules that come with RDKit, with a pre-trained model.

    Only this machine can reach the server, nothing can be changed through it, and it loads nothing from the network.

    \b
    Examples:
      ugraphemb serve molecules --open
      ugraphemb serve index/ --port 9000
      ugraphemb serve index/ --host 0.0.0.0 --token new --allow-host lab.example.org
    """
    from ugraphemb.search.copying import copy_index
    from ugraphemb.web.server import bundled_molecules, new_token, run
    from ugraphemb.web.settings import Settings

    def say(text: str) -> None:
        click.echo(text, err=True)

    if token is not None and (not token.strip() or not token.isascii() or len(token) < 3):
        raise click.BadParameter("a token is at least three characters of ASCII", param_hint="--token")
    with user_errors():
        if is_url(index) and writable:
            raise click.UsageError("--writable is for folders; `ugraphemb add` and `remove` change a database")
        folder, name = Path(index), None
        if index == MOLECULES and not folder.exists():
            folder, name = bundled_molecules(say), MOLECULES
        elif not is_url(index) and not folder.is_dir():
            raise click.BadParameter(f"{index}: no such folder", param_hint="INDEX")
        settings = Settings(
            token=new_token() if token == "new" else token, writable=writable, threads=threads,
            hosts=(*allow_host, *(() if host in ("0.0.0.0", "::") else (host,))),
        )  # fmt: skip
        with TemporaryDirectory(prefix="ugraphemb-serve-") if is_url(index) else nullcontext() as place:
            if place is not None:
                signal.signal(signal.SIGTERM, _ended)  # by default it ends the process, and the folder stays
                folder, name = Path(place) / "index", urlsplit(index).path.rpartition("/")[2]
                copy_index(index, folder, threads=threads)
            run(folder, settings, host=host, port=port, name=called or name, open_page=open_page, say=say)


def _ended(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)
