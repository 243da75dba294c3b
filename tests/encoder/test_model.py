"""The network against plain transcriptions of the paper's equations, and the laws that it must keep."""

import networkx as nx
import numpy as np
import pytest
import torch
from scipy.sparse import random_array
from torch_geometric.nn import GINConv, GINEConv

from ugraphemb import GraphSet
from ugraphemb.encoder.batches import Collator
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import RESERVED, SUPERSOURCE, UNSEEN, Vocabulary
from ugraphemb.encoder.incidence import Incidence
from ugraphemb.encoder.model import Network, NodeAttention

READOUTS = ("msna", "attention", "supersource", "sum", "average")
CONVOLUTIONS = ("gin", "gcn", "sage", "gat")


def labeled_graphs(count=6, seed=0, edge_labels=True):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 9, count)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    edges = [
        (offsets[g] + i, offsets[g] + j)
        for g in range(count)
        for i in range(sizes[g])
        for j in range(i)
        if generator.random() < 0.4
    ]
    return GraphSet.from_edges(
        sizes,
        np.array(edges).reshape(-1, 2),
        node_labels=generator.choice(["C", "N", "O"], offsets[-1]).tolist(),
        edge_labels=generator.choice(["single", "double"], len(edges)).tolist() if edge_labels else None,
        node_attributes=generator.normal(size=(offsets[-1], 2)),
    )


def network_of(graphs, seed=0, **settings):
    config = EncoderConfig(**{"layers": (16, 8), "dimension": 8, **settings})
    vocabulary = Vocabulary.of(graphs, config)
    torch.manual_seed(seed)
    return Network(config, vocabulary).eval(), Collator(graphs, vocabulary, config), vocabulary


def vectors_of(network, collator, positions=None):
    chosen = np.arange(len(collator.num_nodes)) if positions is None else np.asarray(positions)
    with torch.inference_mode():
        return network(network.rows(collator.batch(chosen))).numpy()


def relu(x):
    return np.maximum(x, 0)


def test_attention_is_equation_3():
    graphs = labeled_graphs()
    network, collator, _ = network_of(graphs)
    rows = network.rows(collator.batch(np.arange(len(graphs))))
    torch.manual_seed(1)
    attention = NodeAttention(5)
    nodes = torch.randn(len(graphs.node_labels), 5)
    sizes = rows.batch.offsets.diff()[:, None]
    found = attention(nodes, rows.graphs[0], sizes).detach().numpy()
    theta = attention.transform.weight.detach().numpy()
    for g in range(len(graphs)):
        u = nodes.numpy()[graphs.node_offsets[g] : graphs.node_offsets[g + 1]]
        context = relu(theta @ u.mean(0))
        expected = sum(1 / (1 + np.exp(-(un @ context))) * un for un in u)
        np.testing.assert_allclose(found[g], expected, rtol=1e-4, atol=1e-5)


def test_the_whole_network_is_equations_1_to_3():
    """Against NumPy with explicit one-hot features and adjacency matrices."""
    graphs = labeled_graphs(edge_labels=False)
    network, collator, vocabulary = network_of(graphs, readout="msna")
    weights = {name: value.numpy() for name, value in network.state_dict().items()}
    found = vectors_of(network, collator)
    for g, graph in enumerate(graphs):
        one_hot = np.zeros((graph.num_nodes, RESERVED + len(vocabulary.node_labels)))
        for node, label in enumerate(graph.node_labels):
            one_hot[node, RESERVED + vocabulary.node_labels.index(label)] = 1
        matrix = nx.to_numpy_array(graph.to_networkx(), nodelist=range(graph.num_nodes))
        u, read = one_hot, []
        for k in range(2):
            before = weights["inputs.label.weight"].T if k == 0 else weights[f"convolutions.{k}.product.weight"]
            rest = f"convolutions.{k}.convolution.nn"
            hidden = relu((u + matrix @ u) @ before.T + weights[f"{rest}.0.bias"])
            u = relu(hidden @ weights[f"{rest}.2.weight"].T + weights[f"{rest}.2.bias"])
            context = relu(weights[f"readout.readouts.{k}.transform.weight"] @ u.mean(0))
            read.append((1 / (1 + np.exp(-(u @ context)))) @ u)
        dense = relu(weights["dense.0.weight"] @ np.concatenate(read) + weights["dense.0.bias"])
        expected = weights["dense.2.weight"] @ dense + weights["dense.2.bias"]
        np.testing.assert_allclose(found[g], expected, rtol=1e-4, atol=1e-5)


def test_a_product_before_the_sum_is_the_usual_gin():
    graphs = labeled_graphs(edge_labels=False)
    network, collator, vocabulary = network_of(graphs)
    batch = collator.batch(np.arange(len(graphs)))
    one_hot = torch.nn.functional.one_hot(batch.slot, RESERVED + len(vocabulary.node_labels)).float()
    ours = network.convolutions[0]
    rest = ours.convolution.nn
    mlp = torch.nn.Sequential(torch.nn.Linear(one_hot.shape[1], 16), torch.nn.ReLU(), torch.nn.Linear(16, 16))
    usual = GINConv(torch.nn.Sequential(mlp, torch.nn.ReLU()))
    with torch.no_grad():
        rest[0].bias.normal_()
        mlp[0].weight.copy_(network.inputs.label.weight.T)
        mlp[0].bias.copy_(rest[0].bias)
        mlp[2].load_state_dict(rest[2].state_dict())
    rows = network.rows(batch)
    found = ours(network.inputs(batch), rows.own[0], rows.neighbors[0], batch)
    torch.testing.assert_close(found, usual(one_hot, batch.edge_index()), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("convolution", CONVOLUTIONS)
def test_vectors_do_not_depend_on_node_order_or_company(readout, convolution):
    graphs = labeled_graphs(count=8, seed=3)
    settings = {"readout": readout, "convolution": convolution, "degree": True, "clustering": True}
    network, collator, vocabulary = network_of(graphs, edge_labels=convolution == "gin", **settings)
    together = vectors_of(network, collator)
    alone = np.concatenate([vectors_of(network, collator, [g]) for g in range(len(graphs))])
    np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-5)
    shuffled = []
    for graph in graphs.to_networkx():
        names = list(np.random.default_rng(1).permutation(graph.number_of_nodes()))
        other = nx.Graph()
        other.add_nodes_from((int(n), graph.nodes[n]) for n in names)
        other.add_edges_from(graph.edges(data=True))
        shuffled.append(nx.convert_node_labels_to_integers(other, ordering="default"))
    again = GraphSet.from_networkx(shuffled)
    permuted = vectors_of(network, Collator(again, vocabulary, network.config))
    np.testing.assert_allclose(together, permuted, rtol=1e-4, atol=1e-5)


def test_a_supersource_is_a_node_joined_to_all_others():
    graphs = labeled_graphs(count=5, seed=2)
    config = EncoderConfig(layers=(4,), readout="supersource", edge_labels=True)
    vocabulary = Vocabulary.of(graphs, config)
    batch = Collator(graphs, vocabulary, config).batch(np.arange(5))
    start = 0
    for g, graph in enumerate(graphs):
        size = graph.num_nodes + 1
        assert batch.offsets[g + 1] - batch.offsets[g] == size
        assert batch.slot[start + size - 1] == SUPERSOURCE
        for node in range(size):
            row = slice(batch.indptr[start + node], batch.indptr[start + node + 1])
            neighbors = (batch.indices[row] - start).tolist()
            expected = [*graph.neighbors(node).tolist(), size - 1] if node < size - 1 else list(range(size - 1))
            assert neighbors == expected
            joined = [slot == SUPERSOURCE for slot in batch.edge_slot[row].tolist()]
            assert joined == [node == size - 1 or other == size - 1 for other in neighbors]
        start += size


@pytest.mark.parametrize("readout", READOUTS)
def test_graphs_without_nodes_or_edges_have_finite_vectors(readout):
    graphs = labeled_graphs()
    network, _, vocabulary = network_of(graphs, readout=readout, degree=True)
    bare = GraphSet.from_edges([0, 1, 3, 0], [])
    vectors = vectors_of(network, Collator(bare, vocabulary, network.config))
    assert vectors.shape == (4, 8)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(vectors[0], vectors[3], atol=1e-6)


def test_labels_never_seen_map_to_the_reserved_slot():
    graphs = labeled_graphs()
    network, _, vocabulary = network_of(graphs, edge_labels=True)
    strange = GraphSet.from_edges([3], [[0, 1], [1, 2]], node_labels=["Xx", 7, "C"], edge_labels=["odd", "single"])
    features = vocabulary.features(strange, network.config)
    assert features.slot.tolist()[:2] == [UNSEEN, UNSEEN]
    assert features.slot[2] != UNSEEN
    assert np.isfinite(vectors_of(network, Collator(strange, vocabulary, network.config))).all()


def test_hashed_labels_tell_unseen_labels_apart():
    graphs = labeled_graphs()
    network, _, vocabulary = network_of(graphs, hashed_labels=32)
    strange = GraphSet.from_edges([1, 1, 1], [], node_labels=["Xx", "Yy", "Xx"])
    vectors = vectors_of(network, Collator(strange, vocabulary, network.config))
    np.testing.assert_allclose(vectors[0], vectors[2], atol=1e-6)
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-4


def test_clustering_features_are_networkx_s():
    graphs = labeled_graphs(count=10, seed=5)
    config = EncoderConfig(clustering=True)
    numbers = Vocabulary.of(graphs, config).features(graphs, config).numbers
    expected = []
    for graph in graphs.to_networkx():
        triangles, clustering = nx.triangles(graph), nx.clustering(graph)
        expected += [[np.log1p(graph.degree(n)), np.log1p(triangles[n]), clustering[n]] for n in range(len(graph))]
    np.testing.assert_allclose(numbers, expected, rtol=1e-5, atol=1e-6)


def test_many_labels_do_not_become_a_dense_matrix():
    count = 15_507
    graphs = GraphSet.from_edges([count], [[i, i + 1] for i in range(count - 1)], node_labels=list(range(count)))
    network, collator, _ = network_of(graphs)
    features = collator.batch(np.array([0]))
    assert sum(tensor.numel() for tensor in vars(features).values()) < 20 * count
    assert np.isfinite(vectors_of(network, collator)).all()


def test_gine_is_pytorch_geometric_s():
    graphs = labeled_graphs()
    network, collator, _ = network_of(graphs, edge_labels=True)
    rows = network.rows(collator.batch(np.arange(len(graphs))))
    ours, batch = network.convolutions[1], rows.batch
    usual = GINEConv(ours.convolution.nn)
    nodes = torch.randn(len(graphs.node_labels), 16)
    expected = usual(ours.product(nodes), batch.edge_index(), edge_attr=ours.edge(batch.edge_slot))
    torch.testing.assert_close(ours(nodes, None, rows.neighbors[1], batch), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["neighbors", "runs", "single rows", "lists", "counted lists"])
def test_sums_over_lists_are_products_with_their_incidence_matrix(kind):
    graphs = labeled_graphs(edge_labels=False)
    _, collator, _ = network_of(graphs)
    batch, total = collator.batch(np.arange(len(graphs))), len(graphs.node_labels)
    matrix = random_array((7, total), density=0.3, rng=np.random.default_rng(0), format="csr").astype(np.float32)
    incidence = {
        "neighbors": lambda: Incidence.of_neighbors(batch.indptr, batch.indices),
        "runs": lambda: Incidence.of_runs(batch.offsets, batch.graph_of),
        "single rows": lambda: Incidence.of_single_rows(batch.offsets[1:] - 1, total),
        "lists": lambda: Incidence.of(matrix, counted=False, gradients=True),
        "counted lists": lambda: Incidence.of(matrix, counted=True, gradients=True),
    }[kind]()
    lists = len(incidence.offsets) - 1
    count = torch.ones(len(incidence.chosen)) if incidence.count is None else incidence.count
    dense = torch.zeros(lists, total, dtype=torch.float64)
    dense.index_put_((incidence.list_of, incidence.chosen), count.double(), accumulate=True)
    rows = torch.randn(total, 3, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(incidence.sums(rows), dense @ rows)
    assert torch.autograd.gradcheck(incidence.sums, (rows,))
    if kind != "neighbors":  # these are never weighted
        weight = torch.rand(len(incidence.chosen), dtype=torch.float64, requires_grad=incidence.count is None)
        others = torch.randn(lists, 3, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(incidence.sums, (rows, weight))
        assert torch.autograd.gradcheck(incidence.likeness, (rows, others))
    entries = torch.randn(len(incidence.chosen), 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(incidence.sums_of_entries, (entries,))


def test_labels_count_by_the_share_of_graphs_that_have_them():
    graphs = GraphSet.from_edges([2, 2, 3], np.empty((0, 2), np.int64), node_labels=["C", "C", "C", "N", "O", "C", "O"])
    config = EncoderConfig(label_trust=0.5)
    vocabulary = Vocabulary.of(graphs, config)
    shares = vocabulary.label_shares(graphs)
    found = dict(zip(vocabulary.node_labels, shares.tolist(), strict=True))
    assert found == pytest.approx({"C": 1, "N": 1 / 3, "O": 1 / 3})
    network = Network(config, vocabulary)
    network.inputs.weigh_labels(shares, 0.5)
    nodes = network.inputs(Collator(graphs, vocabulary, config).batch(np.arange(3)))
    weight = network.inputs.label(torch.tensor([2 + list(vocabulary.node_labels).index(x) for x in "CN"]))
    torch.testing.assert_close(nodes[[0, 3]], weight * torch.tensor([[1 / 1.5], [0.4]]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"readout": "max"},
        {"convolution": "cnn"},
        {"layers": ()},
        {"scales": (4,)},
        {"norm_floor": 0.0},
        {"head": "cosine"},
        {"edge_labels": True, "convolution": "gat"},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong)).replace("_", ".")):
        EncoderConfig(**wrong)


@pytest.mark.parametrize("readout", ["msna", "attention", "sum", "average"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"degree": True, "clustering": True, "compression": "log_mean", "batch_norm": True, "scales": (0, 1, 2)},
        {"attributes": True, "hashed_labels": 4, "learn_epsilon": True},
    ],
)
def test_folded_nodes_give_the_vectors_of_all_nodes(readout, settings):
    once = labeled_graphs(40)
    graphs = once[np.concatenate([np.arange(40), np.arange(40)])]
    if readout in ("attention", "average"):
        settings = {**settings, "scales": None}
    network, collator, _ = network_of(graphs, readout=readout, **settings)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.1
    batch = collator.batch(np.arange(len(graphs)))
    with torch.inference_mode():
        folded = network(network.folding(batch).batch(gradients=False)).numpy()
        again = network(network.folding(batch, counted=False).batch(gradients=False)).numpy()
    np.testing.assert_allclose(again, folded, rtol=1e-4, atol=1e-5 * np.abs(folded).max())
    expected = vectors_of(network, collator)
    np.testing.assert_allclose(folded, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())
    np.testing.assert_array_equal(folded[:40], folded[40:])


@pytest.mark.parametrize("sizes", [[0], [0, 3, 0], [1]])
def test_graphs_without_nodes_or_edges_fold(sizes):
    graphs = GraphSet.from_edges(sizes, np.empty((0, 2), np.int64))
    network, collator, _ = network_of(graphs)
    with torch.inference_mode():
        folded = network(network.folding(collator.batch(np.arange(len(sizes)))).batch()).numpy()
    np.testing.assert_allclose(folded, vectors_of(network, collator), rtol=1e-5, atol=1e-6)


def test_two_nodes_share_a_row_where_their_surroundings_agree():
    """Weisfeiler and Lehman's colors, by their definition: own color and the multiset of the neighbors' colors."""
    graphs = labeled_graphs(60, edge_labels=False)
    network, collator, _ = network_of(graphs)
    batch = collator.batch(np.arange(len(graphs)))
    indptr, indices = batch.indptr.numpy(), batch.indices.numpy()
    colors = [str(slot) for slot in batch.slot.tolist()]
    for row_of in network.folding(batch).row_of:
        pairs = set(zip(colors, row_of.tolist(), strict=True))
        assert len(pairs) == len(set(colors)) == len(set(row_of.tolist())) < len(colors)
        around = [sorted(colors[j] for j in indices[indptr[i] : indptr[i + 1]]) for i in range(len(colors))]
        colors = [f"({color}{near})" for color, near in zip(colors, around, strict=True)]


@pytest.mark.parametrize("readout", ["msna", "attention", "sum", "average"])
def test_gradients_of_folded_nodes_are_those_of_all_nodes(readout):
    graphs = labeled_graphs(30)
    network, collator, _ = network_of(graphs, readout=readout, degree=True, learn_epsilon=True, compression="log_mean")
    network.double()
    chosen = np.array([3, 17, 3, 0, 29])
    batch = network.folding(collator.batch(np.arange(len(graphs)))).batch(chosen)
    weight = torch.randn(len(chosen), network.config.dimension, dtype=torch.float64)
    found = []
    for vectors in (network(batch), network(network.rows(collator.batch(chosen)))):
        network.zero_grad()
        (vectors * weight).sum().backward()
        found.append({name: parameter.grad.clone() for name, parameter in network.named_parameters()})
    assert any(gradient.abs().max() > 0.1 for gradient in found[0].values())
    for name, gradient in found[0].items():
        torch.testing.assert_close(gradient, found[1][name], rtol=1e-9, atol=1e-9)
