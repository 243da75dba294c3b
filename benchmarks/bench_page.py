"""The page of `ugraphemb serve` in a browser: how fast a map of 100,000 graphs opens, and how smoothly it moves.

The graphs are random trees with given vectors; their map is stored with the index, as it is after the first start. A
map of a million points is served by this script instead of the server. Chromium draws with its software renderer, so
frames per second are those of a machine without a graphics card.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from report import REPOSITORY, Report, parser

sys.path.insert(0, str(REPOSITORY / "tests"))
from web.browsing import FLAGS, browser_path

import ugraphemb as ug
from ugraphemb.tasks.large_maps import row_keys
from ugraphemb.web.map_files import _SCHEMA, write_map

GRAPHS, MILLION, NODES, KINDS = 100_000, 1_000_000, 8, 40
MOVE = """async seconds => {
    const surface = document.querySelector(".surface"), box = surface.getBoundingClientRect();
    const start = performance.now(), before = window.ugraphemb.drawn.frames;
    for (let turn = 0; performance.now() - start < 1000 * seconds; turn++) {
        const deltaY = turn % 60 < 30 ? -25 : 25;
        surface.dispatchEvent(new WheelEvent("wheel", {deltaY, clientX: box.left + 400, clientY: box.top + 400}));
        await new Promise(requestAnimationFrame);
    }
    return (window.ugraphemb.drawn.frames - before) / (performance.now() - start) * 1000;
}"""


def places(count: int, generator: np.random.Generator) -> np.ndarray[Any, np.dtype[np.float32]]:
    centers = generator.normal(size=(KINDS, 2)) * 40
    return (centers[generator.integers(KINDS, size=count)] + generator.normal(size=(count, 2)) * 4).astype(np.float32)


def write_index(folder: Path, count: int) -> None:
    generator = np.random.default_rng(0)
    offsets = np.arange(count)[:, None] * NODES
    children = np.arange(1, NODES)[None, :]
    chosen = (generator.random((count, NODES - 1)) * children).astype(np.int64)
    edges = np.stack([offsets + chosen, offsets + children], axis=2).reshape(-1, 2)
    graphs = ug.GraphSet.from_edges(np.full(count, NODES), edges)
    settings = {"layers": (8,), "scales": (0, 1), "hidden": 8}
    model = ug.UGraphEmb(dimension=8, steps=20, batch=16, settings=settings, threads=1, progress=False).fit(graphs[:40])
    at = places(count, generator)
    vectors = np.concatenate([at, generator.normal(size=(count, 6))], axis=1).astype(np.float32)
    kind = [f"kind {i}" for i in generator.integers(10, size=count)]
    index = ug.GraphIndex(model).add(graphs, metadata={"kind": kind}, vectors=vectors, progress=False)
    index.save(folder)
    reference = np.arange(count) < 5000
    columns = [index.ids, row_keys(vectors), at[:, 0], at[:, 1], reference]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
    write_map(folder, pa.table(arrays, schema=_SCHEMA.with_metadata({"method": "tsne"})))


def million() -> bytes:
    at = places(MILLION, np.random.default_rng(1))
    nodes = pa.array(np.full(MILLION, NODES, np.int32))
    table = pa.table({"x": at[:, 0], "y": at[:, 1], "nodes": nodes}).combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def measured(browser: Any, address: str, answer: bytes | None = None) -> dict[str, float]:
    """Milliseconds from the start of the navigation to the first paint and to the drawn map; frames per second."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    if answer is not None:
        kind = "application/vnd.apache.arrow.stream"
        page.route("**/api/map*", lambda route: route.fulfill(body=answer, content_type=kind))
    page.goto(address)
    page.locator(".surface[data-drawn]").wait_for(timeout=60000)
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    drawn = page.evaluate("window.ugraphemb.drawn.first")
    frames = page.evaluate(MOVE, 2)
    page.close()
    return {"first paint ms": paint, "map drawn ms": drawn, "frames per second": frames}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--runs", type=int, default=3)
    arguments = options.parse_args()
    from playwright.sync_api import sync_playwright

    report = Report("page", "The page in a browser", seed=0)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place) / "trees"
        write_index(folder, GRAPHS)
        command = [sys.executable, "-m", "ugraphemb.cli.main", "serve", str(folder), "--port", "0"]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            assert server.stderr is not None
            address = next(found[0] for line in server.stderr if (found := re.search(r"http://\S+", line)))
            browser = playwright.chromium.launch(executable_path=browser_path(), args=list(FLAGS))
            measured(browser, address)  # the first one also warms the server
            rows = []
            for graphs, answer in ((GRAPHS, None), (MILLION, million())):
                runs = [measured(browser, address, answer) for _ in range(arguments.runs)]
                rows.append(
                    {"graphs": graphs} | {name: round(statistics.median(run[name] for run in runs)) for name in runs[0]}
                )
            browser.close()
        finally:
            server.terminate()
            server.wait(20)
    sizes = json.loads((REPOSITORY / "src/ugraphemb/web/static/sizes.json").read_text())
    report.table("Opening and moving the map (software rendering)", rows)
    kilobytes = {name: round(sizes[name] / 1000) for name in ("page", "editor")}
    report.table("Kilobytes, gzipped", [kilobytes])
    opened, paint = rows[0]["map drawn ms"], rows[0]["first paint ms"]
    report.check("a map of 100,000 graphs opens within 3 s", opened <= 3000, f"{opened} ms")
    report.check("first paint within 1 s", paint <= 1000, f"{paint} ms")
    report.check("page without molecule editor at most 600 KB", sizes["page"] <= 600_000, f"{kilobytes['page']} KB")
    report.finish(write=not arguments.no_write)


if __name__ == "__main__":
    main()
