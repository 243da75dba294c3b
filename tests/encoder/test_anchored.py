"""Anchored vectors: predicted edit distances respect what the numbers of nodes and edges allow, for any graphs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import ugraphemb as ug
from ugraphemb.encoder.batches import Collator
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import Vocabulary
from ugraphemb.encoder.heads import between
from ugraphemb.encoder.model import Network
from ugraphemb.training.passes import embedded
from ugraphemb.training.presets import changes_for, settings_of

ATLAS = ug.load_dataset("atlas")[8:80]
FEW = {"layers": (8, 8, 8), "dimension": 8, "batch": 16, "steps": 4, "threads": 1, "progress": False}
UNIT = ug.EditCosts().description()
SETTINGS = {"head": "sized_l1", "anchored": True, "layers": (8, 8, 8), "dimension": 8}


def unlike() -> ug.GraphSet:
    """Graphs that are far larger and denser than those of the atlas: stars, a complete graph, one without edges."""
    stars = [(0, i) for i in range(1, 500)]
    complete = [(500 + i, 500 + j) for i in range(60) for j in range(i)]
    return ug.GraphSet.from_edges([500, 60, 300, 1], stars + complete)


def vectors_of(config: EncoderConfig, graphs: ug.GraphSet) -> np.ndarray:
    torch.manual_seed(3)
    network = Network(config, Vocabulary.of(ATLAS, config)).eval()
    collator = Collator(graphs, Vocabulary.of(ATLAS, config), config)
    return embedded(network, collator, np.arange(len(graphs)), torch.device("cpu")).numpy()


@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("scaled", [False, True])
def test_predicted_edits_are_between_difference_and_sum_of_sizes_whatever_the_weights(preset, scaled):
    config = settings_of(preset, "distance", {**SETTINGS, "scaled": scaled})[0]
    graphs = ATLAS + unlike()
    size = (graphs.num_nodes + graphs.num_edges).astype(float)
    mean = (graphs.num_nodes[:, None] + graphs.num_nodes) / 2
    vectors = vectors_of(config, graphs)
    edits = between(vectors, vectors, "sized_l1") * mean
    slack = 1e-4 * size.max()
    assert np.all(edits >= np.abs(size[:, None] - size) - slack)
    assert np.all(edits <= size[:, None] + size + slack)
    to_nothing = np.abs(vectors[:, 1:]).sum(axis=1)  # the empty graph is the origin
    assert np.allclose(to_nothing, size, rtol=1e-4)


def test_without_it_a_graph_unlike_all_others_gets_any_distance():
    config = settings_of("default", "distance", {**SETTINGS, "anchored": False})[0]
    size = unlike().num_nodes + unlike().num_edges
    assert not np.allclose(np.abs(vectors_of(config, unlike())[:, 1:]).sum(axis=1), size, rtol=0.1)


def test_the_default_is_anchored_for_sparse_graphs_under_unit_costs():
    assert changes_for("default", ATLAS, UNIT, {})["anchored"]
    assert changes_for("default", ATLAS, {**UNIT, "edge_relabel": 0.0, "node_relabel": 2.0}, {})["anchored"]
    for name in ("node_insert", "node_delete", "edge_insert", "edge_delete"):
        assert "anchored" not in changes_for("default", ATLAS, {**UNIT, name: 2.0}, {})
    assert "anchored" not in changes_for("default", ATLAS, UNIT, {"head": "l2"})
    assert "anchored" not in changes_for("default", ATLAS, UNIT, {"readout": "supersource"})
    assert changes_for("default", ATLAS, None, {}) == {}
    assert changes_for("paper", ATLAS, UNIT, {}) == {}


@pytest.mark.parametrize("changes", [{"head": "l2"}, {"readout": "supersource"}])
def test_an_anchor_that_does_not_fit_is_an_error(changes):
    with pytest.raises(ValueError, match="anchored=True needs head='sized_l1'"):
        settings_of("default", "distance", {**SETTINGS, **changes})


@pytest.mark.parametrize("head", ["l2", "raised_l2"])
def test_another_head_can_be_chosen_for_sparse_graphs(head):
    model = ug.UGraphEmb(head=head, **FEW).fit(ATLAS)
    assert not model.network_.config.anchored


def test_other_costs_are_learned_without_the_anchor_also_from_an_anchored_model(tmp_path):
    unit = ug.UGraphEmb(**FEW).fit(ATLAS)
    assert unit.network_.config.anchored
    unit.save(tmp_path / "unit")
    costly = ug.EditCosts(node_insert=3.0, node_delete=3.0)
    assert not ug.UGraphEmb(costs=costly, **FEW).fit(ATLAS).network_.config.anchored
    few = {"steps": 3, "threads": 1, "progress": False}
    assert not ug.UGraphEmb(costs=costly, **few).fit(ATLAS, start=tmp_path / "unit").network_.config.anchored
    assert ug.UGraphEmb(**few).fit(ATLAS, start=tmp_path / "unit").network_.config.anchored
