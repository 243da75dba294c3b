"""What a server allows."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Limits:
    """Limits of one request; beyond a limit the answer is a 4xx that names it.

    Attributes:
        body_bytes: Bytes of a request's body.
        query_nodes: Nodes of a graph in a request.
        query_edges: Edges of one.
        draw_nodes: Nodes of a graph that is drawn.
        edit_nodes: Nodes of a graph in a request for edits.
        k: Matches of a search.
        shortlist: Graphs that a verified search examines.
        rows: Rows of one answer.
        export: Rows of one export.
        file_graphs: Graphs of a file that are returned parsed.
        embed: Graphs of one request for vectors.
        add: Graphs of one request that adds.
        seconds: Seconds of work for one query.
        searches: Verified searches and edit paths at once.
        waiting: Requests that may wait for a place; further ones get status 429.
        connections: Concurrent connections.
    """

    body_bytes: int = 4 * 2**20
    query_nodes: int = 1_000
    query_edges: int = 20_000
    draw_nodes: int = 300
    edit_nodes: int = 300
    k: int = 1_000
    shortlist: int = 2_000
    rows: int = 10_000
    export: int = 200_000
    file_graphs: int = 100
    embed: int = 64
    add: int = 10_000
    seconds: float = 60.0
    searches: int = 2
    waiting: int = 64
    connections: int = 256


@dataclass(frozen=True)
class Settings:
    """Settings of one server.

    Attributes:
        token: Required from clients; None requires none.
        writable: Whether graphs may be added and removed.
        hosts: Names that requests may address besides 127.0.0.1, ::1 and localhost; ("*",) lets all through.
        threads: Number of threads for edit distances; 0 uses all cores.
        look: Seconds between checks whether the index has changed.
        keep_map: Whether a map that was computed is written into the folder of the index.
        limits: Limits of requests.
    """

    token: str | None = None
    writable: bool = False
    hosts: tuple[str, ...] = ()
    threads: int = 0
    look: float = 1.0
    keep_map: bool = True
    limits: Limits = field(default_factory=Limits)
