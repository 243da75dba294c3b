"""What is served: the newest state of an index folder, with its map."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from ugraphemb.errors import IndexFormatError, MissingExtraError, StorageError, UGraphEmbError
from ugraphemb.graphs import GraphSet
from ugraphemb.plots.drawing import LabelColors
from ugraphemb.plots.molecules import are_molecules
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.search import GraphIndex
from ugraphemb.search.storage import MANIFEST
from ugraphemb.tasks.large_maps import fit_large_map
from ugraphemb.web.collection import Collection, provisional_map
from ugraphemb.web.map_files import map_of, map_table, read_map, write_map
from ugraphemb.web.refusals import RefusalError
from ugraphemb.web.searches import Searches
from ugraphemb.web.settings import Settings
from ugraphemb.web.summaries import label_colors, summary
from ugraphemb.web.work import Kept, Places

log = logging.getLogger("ugraphemb.web")


class StoppedError(Exception):
    """The server ends, or the index has changed."""


class Service:
    """An index folder as a server sees it: loaded, watched, and never changed but by `write`.

    Attributes:
        collection: The newest state; a request uses the one that was current when it arrived.
    """

    def __init__(self, folder: Path, settings: Settings, name: str | None = None) -> None:
        self.folder, self.settings = folder, settings
        self.name = name or folder.resolve().name
        limits = settings.limits
        self.light = Places(2, limits.waiting, "light")
        self.drawing = Places(1, 8 * limits.waiting, "drawing")  # a page requests many at once
        self.drawings: Kept[bytes] = Kept(4_000)
        self.embedding = Places(1, limits.waiting, "embedding")
        self.proofs = Places(limits.searches, limits.waiting, "proofs")
        self.searches = Searches(limits, self.embedding, self.proofs, self.drawing)
        self._stopped = threading.Event()
        self._writing = asyncio.Lock()
        self._mapping: threading.Thread | None = None
        self._watching: asyncio.Task[None] | None = None
        self._stored: pa.Table | None = None
        self.map_state: dict[str, Any] = {}
        self._summary: tuple[Collection, dict[str, Any]] | None = None
        self._colors: tuple[Collection, LabelColors] | None = None
        self._seen = self._look()
        self.collection = self._loaded()

    def info(self) -> dict[str, Any]:
        """The part of /api/info that depends on the collection."""
        collection = self.collection
        if self._summary is None or self._summary[0] is not collection:
            self._summary = (collection, summary(collection))
        return {**self._summary[1], "map": dict(self.map_state)}

    def colors(self, collection: Collection) -> LabelColors:
        """Of node labels in drawings."""
        if self._colors is None or self._colors[0] is not collection:
            self._colors = (collection, label_colors(collection))
        return self._colors[1]

    def chemical(self, graphs: GraphSet) -> bool:
        """Whether graphs of a request are drawn as molecules."""
        return self.collection.molecules and are_molecules(graphs)

    def costs(self, collection: Collection) -> EditCosts:
        try:
            return collection.index.costs
        except ValueError as error:
            raise RefusalError("invalid", str(error)) from error

    async def start(self) -> None:
        self._watching = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Stops work in threads at its next check; does not wait for it."""
        self._stopped.set()
        if self._watching is not None:
            self._watching.cancel()
        for places in (self.light, self.drawing, self.embedding, self.proofs):
            places.close()

    async def write(self, change: Callable[[GraphIndex], Any]) -> Collection:
        """Changes the index on disk, and serves the new state.

        Raises:
            RefusalError: The change is invalid, or another process changed the index meanwhile.
        """

        def work() -> None:
            index = GraphIndex.load(self.folder, threads=self.settings.threads)
            try:
                change(index)
                index.save()
            except IndexFormatError as error:
                raise RefusalError("changed", "another process changed the index; try again") from error
            except KeyError as error:
                raise RefusalError("not_found", str(error.args[0]), "ids") from error
            except (ValueError, TypeError, StorageError) as error:
                raise RefusalError("invalid", " ".join(str(error).split())[:500]) from error

        async with self._writing:
            await self.proofs.run(work)
            await self._reload()
        return self.collection

    def _look(self) -> tuple[int, int, int] | None:
        """Identifies the version of the manifest; None while there is none."""
        try:
            status = os.stat(self.folder / MANIFEST)
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    async def _watch(self) -> None:
        while not self._stopped.is_set():
            await asyncio.sleep(self.settings.look)
            if self._look() not in (self._seen, None):
                async with self._writing:
                    await self._reload()

    async def _reload(self) -> None:
        seen = self._look()
        try:
            self.collection = await self.light.run(self._loaded)
            self._seen = seen
            log.info("serving %d graphs, state %s", len(self.collection), self.collection.state)
        except (UGraphEmbError, OSError) as error:
            self._seen = seen
            log.warning("the index changed and cannot be read; the previous state is served: %s", error)

    def _loaded(self) -> Collection:
        index = GraphIndex.load(self.folder, threads=self.settings.threads)
        collection = Collection(index, self.name)
        _ = collection.rows, collection.molecules, collection.num_nodes
        self._give_map(collection)
        return collection

    def _give_map(self, collection: Collection) -> None:
        """The stored map, if it fits; else a provisional one, while t-SNE is at work in a thread."""
        try:
            self._stored = read_map(self.folder)
        except IndexFormatError as error:
            log.warning("the stored map is not used: %s", error)
        known = None if self._stored is None else map_of(self._stored, collection)
        if known is not None:
            collection.map = known
            self._say(collection, "ready", 1.0)
            return
        collection.map = provisional_map(collection)
        if not len(collection):
            self._say(collection, "ready", 1.0)
            return
        self._say(collection, "computing", 0.0)
        self._mapping = threading.Thread(target=self._compute_map, args=[collection], name="map", daemon=True)
        self._mapping.start()

    def _compute_map(self, collection: Collection) -> None:
        def tick(done: float) -> None:
            if self._stopped.is_set() or self._mapping is not threading.current_thread():
                raise StoppedError
            self._say(collection, "computing", done)

        try:
            found = fit_large_map(collection.vectors(), collection.index.head, tick=tick)
            table = map_table(collection, found)
            if self.settings.keep_map:
                write_map(self.folder, table)
        except StoppedError:
            return
        except StorageError as error:
            log.warning("the map is kept in memory only: %s", error)
        except MissingExtraError as error:
            log.warning("no t-SNE: %s", error)
            self._say(collection, "unavailable", 0.0)
            return
        except Exception:
            log.exception("the map could not be computed")
            self._say(collection, "unavailable", 0.0)
            return
        self._stored, collection.map = table, found
        self._say(collection, "ready", 1.0)

    def _say(self, collection: Collection, status: str, progress: float) -> None:
        method = collection.drawn_map.method
        self.map_state = {
            "status": status, "progress": round(progress, 3), "method": method,
            "version": f"{collection.state}-{method}",
        }  # fmt: skip
