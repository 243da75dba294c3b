"""Vectors by NumPy alone: those of torch, and no torch."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import ugraphemb as ug
from ugraphemb.encoder import storage
from ugraphemb.encoder.batches import Collator
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import Vocabulary
from ugraphemb.encoder.inference import Inference, knows, shapes_of
from ugraphemb.encoder.model import Network
from ugraphemb.encoder.storage import weights_of
from ugraphemb.errors import ModelFormatError
from ugraphemb.training.passes import embedded
from ugraphemb.training.presets import PRESETS

ATLAS = ug.load_dataset("atlas")[40:60]
LABELED = ug.GraphSet.from_edges(
    [4, 3, 1, 0, 2], [(0, 1), (1, 2), (2, 3), (0, 2), (4, 5)], node_labels=list("CCNOCCNNCC"),
    edge_labels=list("abaab"), node_attributes=np.arange(20.0).reshape(10, 2),
)  # fmt: skip
DEFAULT = PRESETS["default"][0]
KNOWN = {
    "default": DEFAULT,
    "edge counts": dataclasses.replace(DEFAULT, edge_counts=True),
    "paper": PRESETS["paper"][0],
    "attention": EncoderConfig(layers=(8, 5), readout="attention", learn_epsilon=True, attributes=True, dimension=6),
    "residual": EncoderConfig(
        layers=(8, 8, 8), residual=True, activation="gelu", walks=6, clustering=True, readout="msna_sum",
        scales=(0, 1, 3), compression="log_mean", batch_norm=True, dimension=6,
    ),
    "labels of any kind": dataclasses.replace(
        DEFAULT, hashed_labels=8, label_counts=True, aggregation="log", scaled=True, clustering=True, running_norm=True
    ),
    "anchored": dataclasses.replace(DEFAULT, head="sized_l1", anchored=True),
    "anchored and scaled": dataclasses.replace(DEFAULT, head="sized_l1", anchored=True, scaled=True),
    "average": EncoderConfig(layers=(8,), readout="average", compression="log", batch_norm=True, hidden=7, dimension=6),
}  # fmt: skip


def trained(config: EncoderConfig, graphs: ug.GraphSet) -> tuple[Network, Vocabulary]:
    """A network with weights and running means other than those of the start."""
    torch.manual_seed(1)
    vocabulary = Vocabulary.of(graphs, config)
    network = Network(config, vocabulary)
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            if tensor.is_floating_point():
                tensor += 0.02 * (torch.rand if "var" in name else torch.randn)(tensor.shape)
    return network.eval(), vocabulary


@pytest.mark.parametrize("name", KNOWN)
def test_numpy_gives_the_vectors_of_torch(name: str) -> None:
    config = KNOWN[name]
    assert knows(config)
    for graphs in (LABELED,) if config.attributes else (LABELED, ATLAS):
        network, vocabulary = trained(config, graphs)
        expected = embedded(network, Collator(graphs, vocabulary, config), np.arange(len(graphs)), torch.device("cpu"))
        found = Inference(config, vocabulary, weights_of(network)).vectors(graphs)
        assert found.dtype == np.float32
        scale = max(1.0, float(expected.abs().max()))
        assert np.abs(found - expected.numpy()).max() < 1e-5 * scale


@pytest.mark.parametrize("name", KNOWN)
def test_the_tensors_are_those_of_torch(name: str) -> None:
    network, vocabulary = trained(KNOWN[name], LABELED)
    shapes = {key: tuple(tensor.shape) for key, tensor in network.state_dict().items()}
    assert shapes_of(KNOWN[name], vocabulary) == shapes


@pytest.mark.parametrize(
    "changes",
    [
        {"convolution": "gat", "residual": False},
        {"edge_labels": True},
        {"readout": "supersource"},
    ],
)
def test_other_settings_are_left_to_torch(changes: dict[str, object]) -> None:
    assert not knows(dataclasses.replace(DEFAULT, **changes))  # type: ignore[arg-type]


def test_a_setting_that_is_new_is_left_to_torch() -> None:
    @dataclasses.dataclass(frozen=True)
    class Grown(EncoderConfig):
        gates: int = 0

    same = dataclasses.asdict(DEFAULT)
    assert knows(Grown(**same))
    assert not knows(Grown(**same, gates=2))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    model = ug.UGraphEmb(steps=2, layers=(8, 8, 8), dimension=8, batch=8, threads=1, progress=False).fit(ATLAS)
    index = ug.GraphIndex(model).add(ATLAS)
    index.save(folder / "index")
    model.save(folder / "model")
    np.save(folder / "vectors.npy", model.transform(ATLAS))
    return folder


def run(code: str, folder: Path) -> str:
    head = "import sys\nimport numpy as np\nimport ugraphemb as ug\ngraphs = ug.load_dataset('atlas')[40:60]\n"
    tail = "\nprint([name for name in ('torch', 'sklearn', 'torch_geometric') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", head + code + tail], cwd=folder, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_query_of_a_saved_index_imports_neither_torch_nor_scikit_learn(saved: Path) -> None:
    code = """
index = ug.GraphIndex.load('index')
found = index.search(graphs[3], k=3)
assert found[0].id == graphs[3].id and found[0].predicted < 1e-3
assert index.search(graphs[3], k=3, verify=True)[0].distance == 0
assert repr(index)
"""
    assert run(code, saved) == "[]"


def test_a_loaded_model_embeds_a_few_graphs_without_torch_and_is_saved_as_it_was(saved: Path) -> None:
    code = """
model = ug.UGraphEmb.load('model')
found = model.transform(graphs)
assert np.abs(found - np.load('vectors.npy')).max() < 1e-5
model.save('again')
assert list(model.get_params()['layers']) == [8, 8, 8]
"""
    assert run(code, saved) == "[]"
    again = ug.UGraphEmb.load(saved / "again")
    np.testing.assert_array_equal(again.transform(ATLAS), np.load(saved / "vectors.npy"))


def test_torch_is_there_when_it_is_asked_for(saved: Path) -> None:
    code = """
model = ug.UGraphEmb.load('model')
first = model.transform(graphs)
assert 'torch' not in sys.modules
model.finetune(graphs, graphs.num_edges > np.median(graphs.num_edges), steps=5)
assert np.abs(model.transform(graphs) - first).max() > 1e-4
model.save('tuned')
"""
    assert "torch" in run(code, saved)
    code = """
model = ug.UGraphEmb.load('tuned')
assert model.transform(graphs).shape == (20, 8) and model.classes_.tolist() == [False, True]
assert 'torch' not in sys.modules
assert model.predict_proba(graphs).shape == (20, 2)
"""
    assert "torch" in run(code, saved)


def test_weights_of_other_settings_are_refused_without_torch_too(saved: Path) -> None:
    shutil.copytree(saved / "model", saved / "damaged")
    config = storage.FORMAT.read(saved / "damaged" / "config.json")
    config["encoder"]["layers"] = [100_000_000] * 3
    (saved / "damaged" / "config.json").write_bytes(storage.FORMAT.text(config))
    code = """
try:
    ug.UGraphEmb.load('damaged')
except ug.errors.ModelFormatError as error:
    print('refused:', 'the weights are not those' in str(error))
"""
    assert run(code, saved).splitlines() == ["refused: True", "[]"]
    with pytest.raises(ModelFormatError, match="the weights are not those"):
        ug.UGraphEmb.load(saved / "damaged")
