"""Collections as the compiled core takes them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import ugraphemb as ug
from ugraphemb.proximity.alignment import packed


@pytest.fixture
def graphs() -> ug.GraphSet:
    return ug.GraphSet.from_edges([3, 2], [(0, 1), (1, 2), (3, 4)], node_labels=list("CCOCN"), edge_labels=list("sds"))


def test_a_collection_is_checked_once_with_and_once_without_labels_of_edges(graphs):
    plain, labeled = packed(graphs, graphs.node_labels), packed(graphs, graphs.node_labels, graphs.edge_labels)
    assert packed(graphs, graphs.node_labels) is plain
    assert packed(graphs, graphs.node_labels, graphs.edge_labels) is labeled
    assert plain is not labeled


def test_other_codes_are_not_taken_for_the_collections_own(graphs):
    own = packed(graphs, graphs.node_labels)
    other = packed(graphs, np.zeros_like(graphs.node_labels))
    assert other is not own
    assert packed(graphs, graphs.node_labels) is own


def test_a_checked_collection_is_pickled_and_copied_as_before(graphs):
    packed(graphs, graphs.node_labels)
    for again in (pickle.loads(pickle.dumps(graphs)), copy.deepcopy(graphs)):
        assert again == graphs
        assert ug.distance(again[0], graphs[1]).value == ug.distance(graphs[0], graphs[1]).value
