"""The metric "labels"."""

from __future__ import annotations

import numpy as np
import pytest

import ugraphemb as ug


def collection(targets, name=""):
    return ug.GraphSet.from_edges([1] * len(targets), [], targets=targets, name=name)


@pytest.mark.parametrize("targets", [[0, 1, 0, 2, 1], ["a", "b", "a", "c", "b"], [0.5, 1.0, 0.5, 2.0, 1.0]])
def test_graphs_of_one_class_have_similarity_1_and_others_0(targets):
    table = ug.pairwise(collection(targets), metric="labels")
    same = [targets[i] == targets[j] for i, j in zip(table.left, table.right, strict=True)]
    np.testing.assert_array_equal(table.value, np.array(same, float))
    assert table.kind == "similarity"
    assert table.proven.all()


def test_classes_of_two_collections_are_compared_and_numbers_are_no_words():
    assert ug.pairwise(collection([1, 2]), collection([2, 3]), metric="labels").value.tolist() == [0, 0, 1, 0]
    assert not ug.pairwise(collection([1, 2]), collection(["1", "2"]), metric="labels").value.any()


def test_one_pair_has_the_same_answer():
    graphs = collection(["x", "y", "x"])
    assert ug.distance(graphs[0], graphs[2], metric="labels").value == 1
    assert ug.distance(graphs[0], graphs[1], metric="labels").value == 0


def test_graphs_without_targets_are_refused_by_name():
    graphs = ug.GraphSet.from_edges([1, 1], [], name="nameless")
    with pytest.raises(ValueError, match="nameless of 2 graphs has no targets"):
        ug.pairwise(graphs, metric="labels")
