from __future__ import annotations

import numpy as np
import pytest
from baselines.collections_of_graphs import odd_graphs, random_graphs, with_classes
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from ugraphemb.baselines.floors import LabelDegreeCounts, MajorityClass
from ugraphemb.graphs import GraphSet


def test_the_majority_class_is_predicted_for_every_graph() -> None:
    graphs = with_classes(odd_graphs(), ["b", "a", "b", "a", "b"])
    floor = MajorityClass().fit(graphs)
    assert floor.predict(graphs[:3]).tolist() == ["b", "b", "b"]
    assert (floor.transform(graphs) == np.zeros((5, 1))).all()


def test_ties_go_to_the_first_class_in_order() -> None:
    graphs = with_classes(odd_graphs()[:4], [7, 2, 7, 2])
    assert MajorityClass().fit(graphs).predict(graphs).tolist() == [2] * 4


def test_a_majority_needs_classes_and_graphs() -> None:
    with pytest.raises(ValueError, match="no classes"):
        MajorityClass().fit(odd_graphs())
    with pytest.raises(ValueError, match="no graphs"):
        MajorityClass().fit(with_classes(odd_graphs(), range(5))[[]])
    with pytest.raises(NotFittedError):
        MajorityClass().predict(odd_graphs())


def test_counts_are_those_of_networkx() -> None:
    graphs = random_graphs(8)
    model = LabelDegreeCounts().fit(graphs)
    counts = model.transform(graphs)
    top = int(np.diff(graphs.indptr).max())
    for row, graph in zip(counts, graphs.to_networkx(), strict=True):
        labels = [graph.nodes[node]["label"] for node in graph]
        degrees = [degree for _, degree in graph.degree]
        expected = [labels.count(label) for label in graphs.node_vocabulary] + [
            degrees.count(degree) for degree in range(top + 1)
        ]
        assert row.tolist() == expected


def test_unseen_labels_are_ignored_and_high_degrees_count_as_the_highest() -> None:
    path = GraphSet.from_edges([3], [(0, 1), (1, 2)], node_labels=["A", "B", "A"])
    star = GraphSet.from_edges([5], [(0, i) for i in range(1, 5)], node_labels=["A", "X", "B", "X", "X"])
    assert LabelDegreeCounts().fit(path).transform(star).tolist() == [[1, 1, 0, 4, 1]]  # A, B; degrees 0, 1, 2


def test_labels_of_the_same_value_and_another_type_are_different() -> None:
    ones = GraphSet.from_edges([2], [], node_labels=[1, 1])
    true = GraphSet.from_edges([2], [], node_labels=[True, True])
    assert LabelDegreeCounts().fit(ones).transform(true).tolist() == [[0, 2]]


def test_collections_without_labels_edges_or_nodes_have_counts() -> None:
    bare = odd_graphs("")
    assert LabelDegreeCounts().fit(bare).transform(bare).sum(1).tolist() == (2 * bare.num_nodes).tolist()
    empty = bare[[0]]
    assert LabelDegreeCounts().fit(empty).transform(bare).shape == (5, 1)
    assert LabelDegreeCounts().fit(bare).transform(bare[[]]).shape == (0, 4)


def test_logistic_regression_on_counts_tells_sparse_graphs_from_dense_ones() -> None:
    graphs = random_graphs(80, low=10)
    counts = LabelDegreeCounts().fit(graphs[:40]).transform(graphs)
    model = LogisticRegression(max_iter=2000).fit(counts[:40], graphs.targets[:40])
    assert model.score(counts[40:], graphs.targets[40:]) > 0.8
