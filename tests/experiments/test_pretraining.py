"""Training of the models that come with the package: no graph of an evaluation set, the same blocks again, resumed."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import ugraphemb as ug
from experiments.pretraining.__main__ import pretrained
from experiments.pretraining.removal import Removal, anonymous, heavy, without_labels
from experiments.pretraining.structures import GENERATORS, KINDS, _flow, packed
from experiments.pretraining.widening import calibrate, widened
from ugraphemb.encoder.model import Network
from ugraphemb.training.fresh import graph_marks
from ugraphemb.training.passes import prepared

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {
    "layers": (8, 8), "scales": (0, 1, 2), "dimension": 8, "hidden": 8, "batch": 12, "steps_a_block": 2,
    "validate_every": 4, "label_trust": 0.0, "running_norm": True, "checkpoint_seconds": 1e9,
}  # fmt: skip


class Rings:
    """A source of small graphs."""

    name, count = "rings", 0
    nodes: tuple[Any, ...] = (None,)
    edges: tuple[Any, ...] = ()

    def block(self, number: int, size: int, seed: int) -> ug.GraphSet:
        generator = np.random.default_rng([seed, number])
        kinds = ("tree", "ring", "sparse")
        return packed([(n, GENERATORS[kinds[n % 3]](n, generator)) for n in generator.integers(3, 9, size).tolist()])

    def validation(self, size: int, seed: int) -> ug.GraphSet:
        return self.block(-1 % 1_000, size // 10, seed)


def weights(model: ug.UGraphEmb) -> np.ndarray[Any, Any]:
    return np.concatenate([tensor.numpy().reshape(-1) for tensor in model.network_.state_dict().values()])


def trained(steps: int, **options: Any) -> ug.UGraphEmb:
    return pretrained(Rings(), (None,), (), SETTINGS, steps=steps, seed=0, report=lambda text: None, **options)


def test_a_resumed_run_ends_where_one_without_interruption_does(tmp_path: Path) -> None:
    def stop(text: str) -> None:
        if text.startswith("4 "):
            raise KeyboardInterrupt

    pretrained(Rings(), (None,), (), SETTINGS, steps=8, seed=0, checkpoint=tmp_path / "x", report=stop)
    resumed = trained(8, checkpoint=tmp_path / "x", resume=True)
    np.testing.assert_array_equal(weights(resumed), weights(trained(8)))


def test_two_processes_train_one_model(tmp_path: Path) -> None:
    """Both end with the same weights, which are not those of one process."""
    code = (
        "import os, sys, torch, numpy as np; sys.path.insert(0, 'tests/experiments'); torch.set_num_threads(1); "
        "from test_pretraining import trained, weights; "
        "child = os.fork(); "  # two processes, and torch is imported once
        f"torch.distributed.init_process_group('gloo', 'file://{tmp_path}/meeting', rank=int(not child), "
        "world_size=2); "
        f"np.save(r'{tmp_path}/' + str(torch.distributed.get_rank()) + '.npy', weights(trained(4))); "
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if child else 0)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True, timeout=300)
    first, second = (np.load(tmp_path / f"{rank}.npy") for rank in range(2))
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - weights(trained(4))).max() > 0


def test_molecules_of_evaluation_sets_are_found_however_they_are_written(data_root: Path) -> None:
    removal = Removal("molecules", data_root)
    known = ug.load_dataset("Mutagenicity", root=data_root)[[5, 80]]
    turned = []
    for graph in known:
        order = np.random.default_rng(1).permutation(graph.num_nodes)
        place = np.argsort(order)
        edges = [(int(place[u]), int(place[v])) for u, v, *_ in graph.edges]
        labels = [graph.node_labels[i] for i in order]
        turned.append(ug.GraphSet.from_edges([graph.num_nodes], edges, node_labels=labels))
    assert removal.found(turned[0]).all()
    assert removal.found(turned[1]).all()
    assert removal.found(heavy(known)).all()  # also without hydrogens
    strange = ug.GraphSet.from_smiles(["[Au]C(CCCCCC(F)CCC(Cl)CCCCBr)CCCCCCCC"])
    assert not removal.found(strange).any()
    counts = removal.count(heavy(known) + strange)["Mutagenicity"]
    assert (counts["removed"], counts["of these at distance 0"]) == (2, 2)


def test_names_of_labels_do_not_change_what_is_the_same() -> None:
    first, second, third = (
        ug.GraphSet.from_edges([3], [(0, 1), (1, 2)], node_labels=labels) for labels in ("aab", "xxy", "aba")
    )
    one, same, other = (graph_marks(anonymous(graphs))[0] for graphs in (first, second, third))
    assert one == same
    assert one != other


@pytest.mark.parametrize("name", GENERATORS)
def test_every_kind_of_random_graph_has_as_many_nodes_as_asked(name: str) -> None:
    generator = np.random.default_rng(0)
    graphs = packed([(n, GENERATORS[name](n, generator)) for n in (3, 7, 20, 61)])
    assert graphs.num_nodes.tolist() == [3, 7, 20, 61]
    assert (graphs.num_edges > 0).sum() >= 3


def test_control_flow_has_a_node_for_each_branch() -> None:
    def branch(x: int) -> int:
        return 1 if x else 2

    nodes, edges = _flow(branch.__code__)
    assert nodes >= 3
    assert len({v for u, v in edges if u == 0}) == 2


def test_blocks_follow_from_their_number_and_hold_no_graph_of_an_evaluation_set(data_root: Path) -> None:
    from experiments.pretraining.structures import Structures

    source = Structures(data_root, functions=60, report=lambda *said: None)
    first, again, other = (source.block(number, 24, 0) for number in (3, 3, 4))
    assert first.fingerprint == again.fingerprint != other.fingerprint
    marks = np.concatenate([known for known, _ in Removal("graphs", data_root).sets.values()])
    for number in range(len(KINDS)):
        assert not np.isin(graph_marks(without_labels(source.block(number, 24, 0))), marks).any()


def test_a_widened_network_gives_the_same_vectors_and_can_learn() -> None:
    narrow = trained(4)
    config, vocabulary = narrow.network_.config, narrow.vocabulary_
    weights_before = {name: tensor.numpy() for name, tensor in narrow.network_.state_dict().items()}
    wide = Network(replace(config, layers=(12, 12), hidden=11), vocabulary)
    widened(wide, config, weights_before)
    graphs = Rings().block(3, 20, 0)
    rows = prepared(wide, vocabulary, graphs)
    calibrate(wide, config, lambda number: rows, count=2)
    with torch.no_grad():
        np.testing.assert_allclose(wide.eval()(rows).numpy(), narrow.transform(graphs), atol=1e-5)
    wide.train()(rows).square().sum().backward()
    new = {"dense.0.weight": (slice(0, 8), slice(8, 12)), "dense.2.weight": (slice(None), slice(8, 11))}
    for name, places in new.items():  # weights that were set to 0
        assert float(wide.get_parameter(name).grad[places].abs().max()) > 0, name
