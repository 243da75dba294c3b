"""Writes the files of tests/formats/v1: one of each format, as the first release with versions wrote them.

    python tests/formats/write_v1.py tests/formats/v1

Every later release must read what is there; run this again only before that release. A new version of a format gets a
folder of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import ugraphemb as ug
from ugraphemb.files import system
from ugraphemb.files.arrays import npy_bytes
from ugraphemb.files.drafts import write_file

SETTINGS = {"dimension": 8, "layers": (8,), "steps": 12, "batch": 8, "threads": 1, "progress": False, "seed": 0,
            "settings": {"hidden": 8, "scales": (0, 1)}}  # fmt: skip


def collection() -> ug.GraphSet:
    """Twenty paths with labels of every kind, attributes, classes and ids."""
    random = np.random.default_rng(0)
    sizes = random.integers(3, 7, 20)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    edges = [(s + i, s + i + 1) for s, n in zip(starts.tolist(), sizes.tolist(), strict=True) for i in range(n - 1)]
    labels = ["C", 1, ("O", (1, None)), 2.5, True]
    return ug.GraphSet.from_edges(
        sizes,
        edges,
        node_labels=[labels[i] for i in random.integers(0, len(labels), sizes.sum())],
        edge_labels=[("single", "double")[i] for i in random.integers(0, 2, len(edges))],
        node_attributes=random.normal(size=(sizes.sum(), 2)).round(3),
        targets=random.integers(0, 2, 20),
        ids=[f"g{i}" for i in range(20)],
        name="twenty",
    )


def main(folder: Path) -> None:
    system.mkdir(str(folder))
    graphs = collection()
    ug.write_graphs(graphs, folder / "graphs.jsonl")
    plain = ug.GraphSet.from_edges(graphs.num_nodes, graph_edges(graphs), targets=graphs.targets, ids=graphs.ids)
    ug.write_graphs(plain, folder / "TU")
    ug.write_graphs(plain[:3], folder / "list.cxl")
    table = ug.pairwise(graphs, threads=1)
    table.write(folder / "table.parquet")
    ug.pairwise(graphs, threads=1, store=folder / "store")
    model = ug.UGraphEmb(**SETTINGS).fit(graphs, table, checkpoint=folder / "checkpoint")
    model.save(folder / "model")
    vectors = model.transform(graphs)
    write_file(folder / "vectors.npy", npy_bytes(vectors))
    index = ug.GraphIndex(model, threads=1).add(graphs[:15], metadata={"year": list(range(15))}).remove(["g3"])
    index.save(folder / "index")
    index.export(folder / "export.parquet")


def graph_edges(graphs: ug.GraphSet) -> np.ndarray:
    return np.concatenate([graph.edges + graphs.node_offsets[i] for i, graph in enumerate(graphs)])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
