"""Engines behind GraphIndex: the embedded one, and databases that are named by a URL."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from ugraphemb.estimator import UGraphEmb
    from ugraphemb.search.engines.remote import Remote

# The store of each scheme. Its client library is imported when it is first needed.
STORES = {
    "milvus": "ugraphemb.search.engines.milvus:Milvus",
    "postgresql": "ugraphemb.search.engines.postgres:Postgres",
    "postgres": "ugraphemb.search.engines.postgres:Postgres",
    "lance": "ugraphemb.search.engines.lance:Lance",
    "s3": "ugraphemb.search.engines.lance:Lance",
    "gs": "ugraphemb.search.engines.lance:Lance",
    "az": "ugraphemb.search.engines.lance:Lance",
}
_URL = re.compile(rf"({'|'.join(STORES)}):/+")


def is_url(place: str | Path) -> bool:
    """Whether this names a database, not the folder of an embedded index: a URL, or a path that ends in .lance."""
    return _URL.match(str(place)) is not None or str(place).rstrip("/").endswith(".lance")


def engine_at(url: str, model: UGraphEmb, kind: str, costs: dict[str, Any]) -> Remote:
    """The engine at a URL, for a model; what it needs is made there, if it does not exist.

    Raises:
        ValueError: No URL of an engine.
        IndexFormatError: It holds vectors of another model.
        EngineError: It does not answer.
    """
    from ugraphemb.search.engines.remote import Remote

    return Remote.made(_store(url), model, kind, costs)


def opened(url: str, device: str | None = None) -> tuple[Remote, UGraphEmb, dict[str, Any]]:
    """The engine at a URL, with the model and the edit costs that it keeps.

    Raises:
        IndexFormatError: There is no index.
        EngineError: It does not answer.
    """
    from ugraphemb.search.engines.remote import Remote

    return Remote.opened(_store(url), device)


def drop(url: str) -> None:
    """Removes an index from a database, with its model; nothing happens where there is none.

    Raises:
        EngineError: It does not answer.
    """
    from ugraphemb.search.engines.remote import Remote

    store = _store(url)
    Remote(store, "l2", "auto")._asked("remove the index", store.drop)


def _store(url: str) -> Any:
    found = _URL.match(url)
    if found is None and is_url(url):
        return _store(f"lance://{url}")
    if found is None:
        raise ValueError(
            f"engine={url!r}; it is 'embedded', a URL (milvus://host:19530/collection, "
            "postgresql://user@host/database/table, lance://folder, s3://bucket/folder) or a path that ends in .lance"
        )
    if not url.startswith(f"{found[1]}://"):  # a Path makes one slash of two
        url = f"{found[1]}://" + url[found.end() :]
    module, name = STORES[found[1]].split(":")
    return getattr(import_module(module), name)(url)


def shown(url: str) -> str:
    """A URL for messages, without its password."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{parts.username}:***@{host}").geturl()
