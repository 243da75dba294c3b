from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from baselines.collections_of_graphs import odd_graphs, random_graphs, shuffled_nodes
from sklearn.exceptions import NotFittedError

from ugraphemb.baselines.graphsage import GraphSAGE, walk_pairs
from ugraphemb.encoder.batches import Collator
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import Vocabulary
from ugraphemb.graphs import GraphSet

SMALL = {"width": 8, "epochs": 2, "batch": 32}


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Threads of torch on a busy machine wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("labels", ["ABC", ""])
def test_the_same_seed_gives_the_same_vectors_and_another_seed_others(labels: str) -> None:
    graphs = random_graphs(12, labels=labels)
    torch.manual_seed(1)
    first = GraphSAGE(**SMALL, seed=3).fit(graphs).transform(graphs)
    torch.manual_seed(2)  # the global generator is not used
    assert (GraphSAGE(**SMALL, seed=3).fit(graphs).transform(graphs) == first).all()
    assert not np.allclose(GraphSAGE(**SMALL, seed=4).fit(graphs).transform(graphs), first)


def test_fitting_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    GraphSAGE(**SMALL).fit(random_graphs(4))
    assert torch.rand(1) == expected


def test_nodes_that_walks_join_become_more_alike_than_others() -> None:
    """Two components a graph, distinguished by their labels: the loss pulls each together and both apart."""
    triangle = [(0, 1), (1, 2), (0, 2)]
    edges = [(u + 3 * i, v + 3 * i) for i in range(40) for u, v in triangle]
    graphs = GraphSet.from_edges([6] * 20, edges, node_labels=["A", "A", "A", "B", "B", "B"] * 20)
    model = GraphSAGE(width=8, epochs=30, batch=60, rate=0.02).fit(graphs)
    nodes = model.node_vectors(graphs)[:6]
    alike = nodes @ nodes.T
    assert alike[0, 1] > 0.9
    assert alike[0, 3] < 0.2


def test_a_vector_does_not_depend_on_its_batch_or_the_order_of_nodes() -> None:
    graphs = random_graphs(10)
    model = GraphSAGE(**SMALL).fit(graphs)
    together = model.transform(graphs)
    alone = np.concatenate([model.transform(graphs[[i]]) for i in range(len(graphs))])
    np.testing.assert_allclose(alone, together, atol=1e-6)
    np.testing.assert_allclose(model.transform(shuffled_nodes(graphs)), together, atol=1e-6)


def test_unseen_graphs_labels_and_odd_graphs_have_finite_vectors() -> None:
    model = GraphSAGE(**SMALL).fit(random_graphs(6))
    vectors = model.transform(odd_graphs("XY"))
    assert vectors.shape == (5, 8)
    assert np.isfinite(vectors).all()
    assert (vectors[0] == 0).all()
    assert model.transform(odd_graphs()[[]]).shape == (0, 8)


@pytest.mark.parametrize("positions", [[0], [1], [0, 1, 2], [4]])
def test_graphs_without_edges_and_a_single_graph_can_be_fitted(positions: list[int]) -> None:
    graphs = odd_graphs()[positions]
    assert np.isfinite(GraphSAGE(**SMALL).fit(graphs).transform(odd_graphs())).all()


def test_walks_follow_edges_and_never_pair_a_node_with_itself() -> None:
    graphs = random_graphs(3) + odd_graphs()
    config = EncoderConfig(layers=(4,))
    batch = Collator(graphs, Vocabulary.of(graphs, config), config).batch(np.arange(len(graphs)))
    one_step = set(zip(*map(np.ndarray.tolist, walk_pairs(batch, 1, 50, np.random.default_rng(0))), strict=True))
    links = batch.edge_index().numpy()
    assert one_step == set(zip(links[1].tolist(), links[0].tolist(), strict=True))  # enough walks to meet every edge
    starts, ends = walk_pairs(batch, 4, 3, np.random.default_rng(0))
    assert (starts != ends).all()
    assert (batch.graph_of.numpy()[starts] == batch.graph_of.numpy()[ends]).all()


def test_vectors_before_fitting_and_fitting_on_nothing_are_refused() -> None:
    with pytest.raises(NotFittedError, match="GraphSAGE"):
        GraphSAGE().transform(odd_graphs())
    with pytest.raises(ValueError, match="no graphs to fit on"):
        GraphSAGE().fit(odd_graphs()[[]])
    with pytest.raises(ValueError, match="averaging"):
        GraphSAGE(averaging="max")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rate"):
        GraphSAGE(rate=0.0)


def test_averages_can_be_changed_without_another_fit() -> None:
    graphs = random_graphs(4)
    model = GraphSAGE(**SMALL).fit(graphs)
    np.testing.assert_allclose(
        model.transform(graphs, "sum"), model.transform(graphs) * graphs.num_nodes[:, None], rtol=1e-5
    )
