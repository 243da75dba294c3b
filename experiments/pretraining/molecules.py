"""Molecules to train on: MOSES (package molsets), RDKit's, and PubChem's of the package chemicals."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import dataclass, field
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import ugraphemb as ug
from experiments.pretraining.removal import Removal, joined, recoded, without_bonds
from ugraphemb.encoder.hashing import GOLDEN, label_marks, mixed, sums_of_runs
from ugraphemb.pretrained import ELEMENTS
from ugraphemb.training.fresh import FreshGraphs

BONDS = ("single", "double", "triple", "aromatic")
_MOSES = 180_000  # molecules of MOSES that are read
_HELD_OUT = 100_000  # the first of these are held out
_WITH_HYDROGENS = 20_000
_LARGEST = 45  # heavy atoms
_LARGEST_WITH_HYDROGENS = 60
_SKETCH = 64
_AROUND = 40  # nearest by sketch, from which some are drawn
# Kind of block: its weight, which pool, whether bonds count, whether the graphs are small.
KINDS: dict[str, tuple[float, str, bool, bool]] = {
    "drugs, bonds": (0.27, "drugs", True, False),
    "drugs": (0.16, "drugs", False, False),
    "chemicals, bonds": (0.12, "chemicals", True, False),
    "chemicals": (0.16, "chemicals", False, False),
    "small": (0.11, "small", False, True),
    "small, bonds": (0.04, "small", True, True),
    "hydrogens": (0.11, "hydrogens", False, False),
    "hydrogens, bonds": (0.03, "hydrogens", True, False),
}


def held_out_moses(count: int = _HELD_OUT) -> ug.GraphSet:
    """The molecules of MOSES that no model was trained on: the first ones."""
    return ug.load_dataset("moses", limit=min(count, _HELD_OUT))


def chemicals() -> list[str]:
    """SMILES of PubChem, from the package `chemicals`."""
    package = distribution("chemicals")
    path = Path(str(package.locate_file("chemicals/Identifiers/chemical identifiers pubchem large.tsv")))
    with path.open(encoding="utf-8") as file:
        return [line.split("\t", 5)[4] for line in file]


@dataclass
class Pool:
    """Molecules, and a sketch of each: counts of hashed neighborhoods, by which similar molecules are found quickly."""

    graphs: ug.GraphSet
    sketch: npt.NDArray[np.float32] = field(init=False)

    def __post_init__(self) -> None:
        self.sketch = sketched(self.graphs)
        self._norms = np.square(self.sketch).sum(1)
        self.fresh = FreshGraphs(self.graphs)

    def near(self, chosen: npt.NDArray[np.int64], generator: np.random.Generator) -> npt.NDArray[np.int64]:
        """Each chosen molecule, the three most similar to it, and three of the others among the nearest forty."""
        far = self._norms[:, None] - 2 * self.sketch @ self.sketch[chosen].T
        found = []
        for column in far.T:
            some = np.argpartition(column, _AROUND)[:_AROUND]
            some = some[np.argsort(column[some], kind="stable")]
            found += [some[:4], generator.choice(some[4:], 3, replace=False)]
        return np.unique(np.concatenate([chosen, *found]))


def sketched(graphs: ug.GraphSet) -> npt.NDArray[np.float32]:
    """Weighted counts of the neighborhoods of radius 0, 1 and 2, hashed: (graphs, 64)."""
    shift = np.repeat(np.repeat(graphs.node_offsets[:-1], graphs.num_nodes), np.diff(graphs.indptr))
    neighbors = graphs.indices + shift
    color = label_marks(graphs.node_vocabulary)[graphs.node_labels]
    graph_of = np.repeat(np.arange(len(graphs)), graphs.num_nodes)
    sketch = np.zeros((len(graphs), _SKETCH), np.float32)
    for weight in (1.0, 0.7, 0.5):
        place = graph_of * _SKETCH + (mixed(color) % np.uint64(_SKETCH)).astype(np.int64)
        sketch += weight * np.bincount(place, minlength=sketch.size).reshape(sketch.shape)
        color = mixed(color * GOLDEN + sums_of_runs(mixed(color[neighbors]), graphs.indptr))
    return sketch


class Molecules:
    """Blocks of molecules, by number: the same number and seed give the same graphs."""

    name = "molecules"

    def __init__(self, data: Path, *, limit: int = _MOSES, cache: Path | None = None, report: Any = print) -> None:
        """Reads the molecules; `cache` is a file in which the parsed molecules are kept."""
        self.nodes, self.edges = ELEMENTS, BONDS
        self._removal = Removal("molecules", data)
        self.counts: dict[str, Any] = {}
        if cache is not None and cache.exists():
            pools, self.counts = pickle.loads(cache.read_bytes())
        else:
            pools = self._read(limit, report)
            if cache is not None:
                cache.write_bytes(pickle.dumps((pools, self.counts)))
        self.pools = {name: Pool(graphs) for name, graphs in pools.items()}
        self.count = sum(len(pool.graphs) for pool in self.pools.values())
        self._small = np.flatnonzero(self.pools["chemicals"].graphs.num_nodes <= 12)

    def _read(self, limit: int, report: Any) -> dict[str, ug.GraphSet]:
        moses = ug.load_dataset("moses", limit=limit)
        moses = moses[min(_HELD_OUT, limit // 2) :]
        smiles = chemicals()[: max(2_000, limit)]
        generator = np.random.default_rng(0)
        drugs = moses.metadata["smiles"][generator.choice(len(moses), _WITH_HYDROGENS // 4)].tolist()
        hydrogens = [smiles[i] for i in generator.choice(len(smiles), _WITH_HYDROGENS)]
        both = [_read(hydrogens, hydrogens=True), _read(drugs, hydrogens=True)]
        return {
            "drugs": self._pool("MOSES and RDKit", [moses, ug.load_dataset("molecules")], _LARGEST, report),
            "chemicals": self._pool("chemicals", [_read(smiles)], _LARGEST, report),
            "hydrogens": self._pool("with hydrogens", both, _LARGEST_WITH_HYDROGENS, report),
        }

    def _pool(self, name: str, parts: list[ug.GraphSet], largest: int, report: Any) -> ug.GraphSet:
        plain = []
        for part in parts:
            known = set(part.edge_vocabulary) <= set(BONDS)
            fits = part.num_nodes <= largest
            if not known:  # dative and other bonds
                odd = [i for i, label in enumerate(part.edge_vocabulary) if label not in BONDS]
                graph_of = np.repeat(np.repeat(np.arange(len(part)), part.num_nodes), np.diff(part.indptr))
                fits[np.unique(graph_of[np.isin(part.edge_labels, odd)])] = False
            fits &= part.num_nodes > 0
            part = _known_labels(part[np.flatnonzero(fits)], self.nodes)
            plain.append(recoded(part, self.nodes, BONDS))
        graphs = joined(plain)
        self.counts[name] = {"molecules": len(graphs), "sets": self._removal.count(graphs)}
        graphs = graphs[np.flatnonzero(~self._removal.found(graphs))]
        self.counts[name]["left"] = len(graphs)
        report(name, self.counts[name])
        return graphs

    def block(self, number: int, size: int, seed: int) -> ug.GraphSet:
        """Molecules of one kind: some similar, some edited or cropped, the others drawn at random."""
        generator = np.random.default_rng([seed, number])
        weights = np.array([kind[0] for kind in KINDS.values()])
        kind = list(KINDS)[int(generator.choice(len(KINDS), p=weights / weights.sum()))]
        _, source, bonds, _ = KINDS[kind]
        graphs = self._small_ones(size, generator) if source == "small" else self._some(source, size, generator)
        graphs = self._renamed(graphs, generator)
        graphs = graphs if bonds else without_bonds(graphs)
        return graphs[np.flatnonzero(~self._removal.found(graphs))]

    def _some(self, source: str, size: int, generator: np.random.Generator) -> ug.GraphSet:
        pool = self.pools[source]
        count = len(pool.graphs)
        random = generator.choice(count, round(0.3 * size), replace=False)
        centers = generator.choice(count, round(size / 16), replace=False)
        old = np.unique(np.concatenate([random, pool.near(centers, generator)]))
        fresh = pool.fresh.made(np.concatenate([random, centers, centers, centers]), size - len(old), generator)
        return joined([pool.graphs[old], _same(fresh, pool.graphs)])

    def _small_ones(self, size: int, generator: np.random.Generator) -> ug.GraphSet:
        pool, drugs = self.pools["chemicals"], self.pools["drugs"]
        old = generator.choice(self._small, min(len(self._small), size // 2), replace=False)
        parents = generator.choice(len(drugs.graphs), size // 4, replace=False)
        crops = drugs.fresh.crops(parents, generator.integers(3, 12, len(parents)), generator)
        fresh = pool.fresh.made(old[: size // 4], size - len(old) - len(crops), generator)
        return joined([pool.graphs[old], _same(crops, pool.graphs), _same(fresh, pool.graphs)])

    def _renamed(self, graphs: ug.GraphSet, generator: np.random.Generator) -> ug.GraphSet:
        """In one of sixteen molecules one atom gets a random element, so that rare elements are learned too."""
        labels = graphs.node_labels.copy()
        chosen = np.flatnonzero(generator.random(len(graphs)) < 1 / 16)
        places = graphs.node_offsets[chosen] + (generator.random(len(chosen)) * graphs.num_nodes[chosen]).astype(int)
        labels[places] = generator.integers(len(self.nodes), size=len(places))
        return ug.GraphSet(
            graphs.node_offsets, graphs.indptr, graphs.indices, labels, self.nodes, graphs.edge_labels, BONDS
        )

    def validation(self, size: int, seed: int) -> ug.GraphSet:
        """Molecules for validation; blocks may contain some of them, so only large changes are meaningful."""
        generator = np.random.default_rng([seed, 1 << 40])
        parts = [pool.graphs for name, pool in self.pools.items() if name != "hydrogens"]
        return joined([graphs[generator.choice(len(graphs), size // 2, replace=False)] for graphs in parts])


def _read(smiles: list[str], **options: Any) -> ug.GraphSet:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ug.GraphSet.from_smiles(smiles, on_error="skip", **options)


def _known_labels(graphs: ug.GraphSet, nodes: tuple[str, ...]) -> ug.GraphSet:
    """Only molecules of elements (no "*"), with a vocabulary that has no other label."""
    odd = [i for i, label in enumerate(graphs.node_vocabulary) if label not in nodes]
    graph_of = np.repeat(np.arange(len(graphs)), graphs.num_nodes)
    bad = np.unique(graph_of[np.isin(graphs.node_labels, odd)])
    kept = graphs[np.setdiff1d(np.arange(len(graphs)), bad)]
    vocabulary = tuple(label if label in nodes else nodes[0] for label in kept.node_vocabulary)
    bonds = tuple(label if label in BONDS else BONDS[0] for label in kept.edge_vocabulary)
    return ug.GraphSet(
        kept.node_offsets, kept.indptr, kept.indices, kept.node_labels, vocabulary, kept.edge_labels, bonds
    )


def _same(fresh: ug.GraphSet, like: ug.GraphSet) -> ug.GraphSet:
    """`fresh` with the vocabularies of `like`, in their order, also if there are no graphs."""
    if fresh.node_vocabulary != like.node_vocabulary or fresh.edge_vocabulary != like.edge_vocabulary:
        return recoded(fresh, like.node_vocabulary, like.edge_vocabulary)
    return fresh
