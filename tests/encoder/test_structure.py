"""Structural inputs and residual convolutions, against plain transcriptions; folding stays exact with them."""

import networkx as nx
import numpy as np
import pytest
import torch
from encoder.test_model import labeled_graphs, network_of, vectors_of

from ugraphemb import GraphSet
from ugraphemb.encoder.batches import Collator
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import Vocabulary
from ugraphemb.encoder.inference import knows

NEW = {"residual": True, "activation": "gelu", "walks": 3, "layers": (16, 16), "degree": True}


def features_of(graphs, **settings):
    config = EncoderConfig(**settings)
    return Vocabulary.of(graphs, config).features(graphs, config).numbers


def test_walks_are_the_diagonals_of_powers_of_the_transition_matrix():
    graphs = labeled_graphs(count=10, seed=5)
    found = features_of(graphs, walks=6)
    for graph, rows in zip(graphs.to_networkx(), np.split(found, graphs.node_offsets[1:-1]), strict=True):
        matrix = nx.to_numpy_array(graph, nodelist=range(len(graph)))
        step = matrix / np.maximum(matrix.sum(1, keepdims=True), 1)
        expected = [np.diag(np.linalg.matrix_power(step, k)) for k in range(2, 8)]
        np.testing.assert_allclose(rows, np.stack(expected, axis=1), atol=0.012)
        np.testing.assert_allclose(rows * 50, np.round(rows * 50), atol=1e-4)


def test_a_residual_gin_adds_what_it_computes():
    graphs = labeled_graphs(edge_labels=False)
    network, collator, _ = network_of(graphs, **NEW, readout="sum")
    rows = network.rows(collator.batch(np.arange(len(graphs))))
    nodes = torch.randn(len(graphs.node_labels), 16)
    gin, total = network.convolutions[1], len(nodes)
    matrix = torch.zeros(total, total)
    matrix.index_put_(tuple(rows.batch.edge_index()), torch.ones(1))
    bias, dense = gin.convolution.nn[0].bias, gin.convolution.nn[2]
    inside = torch.nn.functional.gelu((nodes + matrix @ nodes) @ gin.product.weight.T + bias)
    torch.testing.assert_close(
        gin(nodes, None, rows.neighbors[1], rows.batch), nodes + dense(inside), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("readout", ["sum", "msna", "msna_sum"])
def test_folded_rows_give_the_same_vectors_and_gradients(readout):
    graphs = labeled_graphs(count=30, seed=1, edge_labels=False)
    network, collator, _ = network_of(graphs, **NEW, readout=readout, compression="log_mean", scales=(0, 1, 2))
    chosen = np.array([3, 7, 7, 0, 29])
    plain, folded = network.rows(collator.batch(chosen)), network.folding(collator.batch(np.arange(30))).batch(chosen)
    found = []
    for rows in (plain, folded):
        network.zero_grad()
        vectors = network(rows)
        vectors.square().sum().backward()
        found.append([vectors.detach(), *(p.grad.clone() for p in network.parameters())])
    assert len(folded.batch.slot) < len(plain.batch.slot)
    torch.testing.assert_close(found[0], found[1], rtol=1e-3, atol=1e-4)


def test_vectors_of_isolated_nodes_are_finite():
    network, _, vocabulary = network_of(labeled_graphs(edge_labels=False), **NEW)
    bare = GraphSet.from_edges([0, 1, 3], [])
    assert np.isfinite(vectors_of(network, Collator(bare, vocabulary, network.config))).all()


def test_residual_convolutions_need_one_width():
    with pytest.raises(ValueError, match="layers of one width"):
        EncoderConfig(residual=True, layers=(8, 4))
    with pytest.raises(ValueError, match="activation='tanh'; it is one of 'relu', 'gelu'"):
        EncoderConfig(activation="tanh")


@pytest.mark.parametrize("readout", ["sum", "msna"])
def test_folding_keeps_logarithmic_sums_and_scales(readout):
    graphs = labeled_graphs(count=30, seed=1, edge_labels=False)
    settings = {**NEW, "aggregation": "log", "scaled": True, "readout": readout}
    network, collator, _ = network_of(graphs, **settings)
    chosen = np.arange(30)
    folded = network(network.folding(collator.batch(chosen)).batch(chosen)).detach().numpy()
    np.testing.assert_allclose(folded, vectors_of(network, collator), rtol=1e-4, atol=1e-5)
    assert knows(network.config)  # tests/encoder/test_inference.py compares them


def test_scaled_vectors_are_multiplied_by_nodes_and_edges_per_node():
    graphs = labeled_graphs(count=10, seed=2, edge_labels=False)
    plain, collator, _ = network_of(graphs, **NEW)
    scaled, _, _ = network_of(graphs, **NEW, scaled=True)
    factor = 1 + graphs.num_edges / graphs.num_nodes
    expected = vectors_of(plain, collator) * factor[:, None]
    np.testing.assert_allclose(vectors_of(scaled, collator), expected, rtol=1e-4, atol=1e-5)


def test_logarithmic_sums_multiply_by_the_logarithm_of_the_degree():
    graphs = labeled_graphs(count=10, seed=2, edge_labels=False)
    network, collator, _ = network_of(graphs, **NEW, aggregation="log")
    rows = network.rows(collator.batch(np.arange(10)))
    nodes = torch.randn(len(graphs.node_labels), 16)
    matrix = torch.zeros(len(nodes), len(nodes))
    matrix.index_put_(tuple(rows.batch.edge_index()), torch.ones(1))
    degree = matrix.sum(1, keepdim=True)
    expected = matrix @ nodes * torch.log1p(degree) / degree.clamp(min=1)
    torch.testing.assert_close(network.convolutions[0]._around(nodes, rows.neighbors[0]), expected)
