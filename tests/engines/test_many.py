"""A hundred thousand graphs in every engine: the nearest are found, and each graph is stored once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from search.small_index import graphs, model, queries

from ugraphemb import GraphIndex
from ugraphemb.search.neighbors import Neighbors

COUNT = 100_000


@pytest.mark.timeout(3000)
def test_a_hundred_thousand_graphs(engine):
    rows = np.arange(COUNT) % len(graphs())
    vectors = model("ged", "l2").transform(graphs())[rows]
    vectors += np.random.default_rng(0).normal(0, vectors.std(), vectors.shape).astype(np.float32)
    many = replace(graphs()[rows], ids=np.array([f"m{i}" for i in range(COUNT)]), targets=None)
    index = GraphIndex(model("ged", "l2"), threads=1, engine=engine.url())
    index.add(many, vectors=vectors, progress=False)
    assert len(index) == COUNT
    exact = Neighbors.built(vectors, index.head, "flat").nearest(model("ged", "l2").transform(queries()), 10)
    found = index.search(queries(), 10)
    hits = [
        len({match.id for match in matches} & {f"m{i}" for i in places})
        for matches, (places, _) in zip(found, exact, strict=True)
    ]
    assert np.mean(hits) / 10 >= 0.95
    gone = [f"m{i}" for i in range(0, COUNT, 100)]
    index.remove(gone)
    assert (len(index), index.engine.known(gone)) == (COUNT - len(gone), [])
    index.add(many, vectors=vectors, progress=False)
    assert len(index) == COUNT
    assert index.graphs(gone) == many[::100]
