from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from baselines.collections_of_graphs import odd_graphs, random_graphs, shuffled_nodes
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from ugraphemb.baselines.graph2vec import Graph2Vec
from ugraphemb.errors import MissingExtraError

SMALL = {"width": 8, "epochs": 20}

IN_A_PROCESS = """
import sys; sys.path.insert(0, "tests")
from baselines.collections_of_graphs import random_graphs
from ugraphemb.baselines.graph2vec import Graph2Vec
graphs = random_graphs(6)
model = Graph2Vec(width=4, epochs=3)
print(model.fit_transform(graphs).tolist(), model.transform(random_graphs(2, seed=1)).tolist())
"""


def cosines(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    left, right = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (left, right))
    return left @ right.T


def test_the_same_seed_gives_the_same_vectors_in_any_process() -> None:
    answers = set()
    for salt in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": salt, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", IN_A_PROCESS], env=environment, capture_output=True, text=True, check=True
        )
        answers.add(done.stdout)
    assert len(answers) == 1


def test_another_seed_gives_other_vectors() -> None:
    graphs = random_graphs(8)
    first, second = (Graph2Vec(**SMALL, seed=seed).fit_transform(graphs) for seed in (1, 2))
    assert not np.allclose(first, second)


def test_the_learned_vector_of_a_graph_is_most_like_the_one_inferred_for_it() -> None:
    graphs = random_graphs(20, low=8)
    model = Graph2Vec(width=16, epochs=200, subsampling=0)
    learned = model.fit_transform(graphs)
    inferred = model.transform(graphs)
    assert (cosines(learned, inferred).argmax(axis=1) == np.arange(20)).mean() > 0.9


def test_vectors_tell_sparse_graphs_from_dense_ones_they_have_never_seen() -> None:
    graphs = random_graphs(80, low=10, labels="")
    model = Graph2Vec(width=16, epochs=60, iterations=1, subsampling=0).fit(graphs[:50])
    vectors = model.transform(graphs)
    judge = LogisticRegression(max_iter=2000, C=100).fit(vectors[:50], graphs.targets[:50])
    assert judge.score(vectors[50:], graphs.targets[50:]) > 0.8


def test_an_inferred_vector_depends_on_its_graph_alone() -> None:
    graphs = random_graphs(12)
    model = Graph2Vec(**SMALL).fit(graphs[:8])
    together = model.transform(graphs)
    assert (model.transform(graphs[::-1]) == together[::-1]).all()
    assert (model.transform(shuffled_nodes(graphs)) == together).all()


def test_graphs_without_nodes_or_known_words_have_the_vector_0() -> None:
    graphs = random_graphs(6) + odd_graphs()
    learned = Graph2Vec(**SMALL).fit_transform(graphs)
    assert (learned[6] == 0).all()
    assert (learned[:6] != 0).any(axis=1).all()
    model = Graph2Vec(**SMALL).fit(random_graphs(6))
    assert (model.transform(random_graphs(3, labels="XY")) == 0).all()
    assert model.transform(odd_graphs()[[]]).shape == (0, 8)


@pytest.mark.parametrize("positions", [[0], [1], [4], [0, 1, 2, 3, 4]])
def test_odd_collections_are_fitted(positions: list[int]) -> None:
    graphs = odd_graphs()[positions]
    model = Graph2Vec(**SMALL)
    learned = model.fit_transform(graphs)
    assert learned.shape == (len(positions), 8)
    assert np.isfinite(learned).all()
    assert np.isfinite(model.transform(odd_graphs())).all()


def test_documents_longer_than_gensim_reads_stay_one_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugraphemb.baselines.graph2vec._LONGEST", 5)
    graphs = random_graphs(6)
    model = Graph2Vec(**SMALL, min_count=1)
    assert (model.fit_transform(graphs) != 0).any(axis=1).all()
    assert np.isfinite(model.transform(graphs)).all()


def test_misuse_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFittedError, match="Graph2Vec"):
        Graph2Vec().transform(odd_graphs())
    with pytest.raises(ValueError, match="no graphs to fit on"):
        Graph2Vec().fit(odd_graphs()[[]])
    with pytest.raises(ValueError, match="epochs is 0"):
        Graph2Vec(epochs=0)
    monkeypatch.setitem(sys.modules, "gensim.models.doc2vec", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ugraphemb\[baselines\]'"):
        Graph2Vec().fit(odd_graphs())
