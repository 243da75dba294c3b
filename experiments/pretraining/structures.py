"""Graphs of any kind to train on: random ones, NetworkX's atlas, control flow of Python's standard library.

Labels, where a block has them, are words that never come twice: what is learned is which nodes are alike, not names.
"""

from __future__ import annotations

import dis
import sysconfig
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

import ugraphemb as ug
from experiments.pretraining.removal import Removal, joined, without_bonds
from ugraphemb.training.fresh import FreshGraphs

Edges = list[tuple[int, int]]
Generator = np.random.Generator
_FUNCTIONS = 6_000  # of the standard library
_LARGEST_FLOW = 80  # nodes
# Kind of block: its weight, sizes of its graphs, how many graphs, which generators (all where None).
KINDS: dict[str, tuple[float, tuple[int, int], float, tuple[str, ...] | None]] = {
    "small": (0.10, (3, 12), 1.0, None),
    "small trees": (0.18, (4, 13), 1.0, ("tree", "alkane", "hub tree", "caterpillar")),
    "egos": (0.25, (5, 50), 1.0, ("ego", "ego", "ego", "dense", "communities")),
    "middle": (0.12, (8, 40), 1.0, None),
    "flow": (0.06, (4, 60), 1.0, ("flow",)),
    "threads": (0.10, (8, 120), 0.5, ("thread", "hub tree", "tree")),
    "large": (0.04, (40, 250), 0.25, ("thread", "hub tree", "sparse", "communities", "attached")),
    "labeled": (0.10, (4, 30), 1.0, None),
    "labeled trees and rings": (0.05, (4, 30), 1.0, ("tree", "alkane", "rings", "flow")),
}


def _tree(n: int, g: Generator) -> Edges:
    return [(int(g.integers(i)), i) for i in range(1, n)]


def _alkane(n: int, g: Generator, most: int = 4) -> Edges:
    degree, edges = [0], []
    for i in range(1, n):
        free = [node for node, count in enumerate(degree) if count < most]
        parent = free[int(g.integers(len(free)))]
        edges.append((parent, i))
        degree[parent] += 1
        degree.append(1)
    return edges


def _hub_tree(n: int, g: Generator) -> Edges:
    """Preferential attachment, stronger or weaker."""
    power, degree, edges = g.uniform(0.5, 1.6), np.ones(n), []
    for i in range(1, n):
        weight = degree[:i] ** power
        parent = int(np.searchsorted(np.cumsum(weight), g.random() * weight.sum()))
        edges.append((min(parent, i - 1), i))
        degree[min(parent, i - 1)] += 1
    return edges


def _caterpillar(n: int, g: Generator) -> Edges:
    spine = int(g.integers(1, n + 1))
    return [(i - 1, i) for i in range(1, spine)] + [(int(g.integers(spine)), i) for i in range(spine, n)]


def _random(n: int, g: Generator, p: float) -> Edges:
    first, second = np.triu_indices(n, 1)
    chosen = g.random(len(first)) < p
    return list(zip(first[chosen].tolist(), second[chosen].tolist(), strict=True))


def _sparse(n: int, g: Generator) -> Edges:
    extra = _random(n, g, g.uniform(0, 2.5) / n)
    return extra if g.random() < 0.3 else _tree(n, g) + extra


def _dense(n: int, g: Generator) -> Edges:
    return _random(n, g, g.uniform(0.2, 1.0))


def _attached(n: int, g: Generator) -> Edges:
    m = int(g.integers(2, 5))
    return [(int(parent), i) for i in range(1, n) for parent in g.choice(i, min(i, m), replace=False)]


def _small_world(n: int, g: Generator) -> Edges:
    reach, p = int(g.integers(1, 3)), g.uniform(0, 0.4)
    return [(i, int(g.integers(n)) if g.random() < p else (i + k) % n) for i in range(n) for k in range(1, reach + 1)]


def _near(n: int, g: Generator) -> Edges:
    place = g.random((n, 2))
    far = np.hypot(*(place[:, None] - place[None]).transpose(2, 0, 1))
    first, second = np.triu_indices(n, 1)
    chosen = far[first, second] < g.uniform(0.8, 2.0) / np.sqrt(n)
    return list(zip(first[chosen].tolist(), second[chosen].tolist(), strict=True))


def _grid(n: int, g: Generator) -> Edges:
    width = int(g.integers(2, max(3, int(np.sqrt(n)) + 2)))
    edges = [(i, i + 1) for i in range(n - 1) if (i + 1) % width]
    return edges + [(i, i + width) for i in range(n - width)]


def _ring(n: int, g: Generator) -> Edges:
    kind = int(g.integers(5))
    ring = [(i, (i + 1) % n) for i in range(n)]
    if kind == 0:
        return ring
    if kind == 1:
        return ring[:-1]
    if kind == 2:
        return [(0, i) for i in range(1, n)] + (ring[1:-1] if g.random() < 0.5 else [])  # a star or a fan
    split = int(g.integers(1, n))
    if kind == 3:
        return [(i, j) for i in range(split) for j in range(split, n)]
    return [(i, j) for i in range(split) for j in range(i)] + [(i - 1, i) for i in range(split, n)]  # a lollipop


def _rings(n: int, g: Generator) -> Edges:
    """Rings of five and six, joined by a node, an edge or a path, with side chains: like molecules."""
    edges: Edges = []
    size = 1
    while size < n:
        at = int(g.integers(size))
        length = int(g.choice([1, 1, 1, 2, 5, 6, 6]))
        length = min(length, n - size)
        new = list(range(size, size + length))
        edges += list(zip([at, *new[:-1]], new, strict=True))
        if length >= 4:
            edges.append((new[-1], at if g.random() < 0.4 else new[0]))
        size += length
    return edges


def _ego(n: int, g: Generator) -> Edges:
    """A node joined to all others, which are in cliques that may overlap; few large cliques or many small ones."""
    edges = {(0, i) for i in range(1, n)}
    cast = np.exp(g.uniform(np.log(2.5), np.log(25)))
    at = 1
    while at < n:
        end = min(n, at + 1 + int(g.poisson(cast)))
        again = g.choice(np.arange(1, n), min(n - 1, int(g.integers(3)) if g.random() < 0.4 else 0), replace=False)
        clique = sorted({*range(at, end), *again.tolist()})
        edges |= {(i, j) for k, i in enumerate(clique) for j in clique[k + 1 :]}
        at = end
    return sorted(edges)


def _communities(n: int, g: Generator) -> Edges:
    of = g.integers(int(g.integers(2, 5)), size=n)
    inside, between = g.uniform(0.3, 1.0), g.uniform(0, 0.1)
    first, second = np.triu_indices(n, 1)
    chosen = g.random(len(first)) < np.where(of[first] == of[second], inside, between)
    if n > 60:
        chosen &= g.random(len(first)) < 8 / n
    return list(zip(first[chosen].tolist(), second[chosen].tolist(), strict=True))


def _thread(n: int, g: Generator) -> Edges:
    """Who answered whom: a few hubs with many leaves, chains, some further edges, some small components."""
    hubs = int(g.integers(1, max(2, n // 12 + 1)))
    share = g.dirichlet(np.full(hubs, g.uniform(0.2, 2)))
    chain, extra, apart = g.uniform(0, 0.5), g.uniform(0, 0.25), g.uniform(0, 0.06)
    edges: Edges = [(int(g.integers(i)), i) for i in range(1, hubs) if g.random() > 0.1]
    for i in range(hubs, n):
        kind = g.random()
        if kind < apart:
            continue
        parent = int(g.integers(i)) if kind < apart + chain else int(g.choice(hubs, p=share))
        edges.append((parent, i))
        if g.random() < extra:
            edges.append((int(g.integers(i)), i))
    return edges


GENERATORS: dict[str, Callable[[int, Generator], Edges]] = {
    "tree": _tree, "alkane": _alkane, "hub tree": _hub_tree, "caterpillar": _caterpillar, "sparse": _sparse,
    "dense": _dense, "attached": _attached, "small world": _small_world, "near": _near, "grid": _grid, "ring": _ring,
    "rings": _rings, "ego": _ego, "communities": _communities, "thread": _thread,
}  # fmt: skip


class Structures:
    """Blocks of graphs, by number: the same number and seed give the same graphs."""

    name = "graphs"
    nodes: tuple[Any, ...] = (None,)
    edges: tuple[Any, ...] = ()

    def __init__(self, data: Path, *, functions: int = _FUNCTIONS, report: Any = print) -> None:
        self._removal = Removal("graphs", data)
        atlas = without_bonds(ug.load_dataset("atlas"))
        atlas = atlas[np.flatnonzero(atlas.num_nodes > 0)]
        flow = packed(control_flows(functions))
        self.counts: dict[str, Any] = {}
        self._kept = {name: self._without(name, graphs, report) for name, graphs in (("atlas", atlas), ("flow", flow))}
        self.count = sum(map(len, self._kept.values()))

    def _without(self, name: str, graphs: ug.GraphSet, report: Any) -> ug.GraphSet:
        self.counts[name] = {"graphs": len(graphs), "sets": self._removal.count(graphs)}
        graphs = graphs[np.flatnonzero(~self._removal.found(graphs))]
        self.counts[name]["left"] = len(graphs)
        report(name, self.counts[name])
        return graphs

    def block(self, number: int, size: int, seed: int) -> ug.GraphSet:
        """Graphs of one kind: a third at random, and variations of some of them."""
        generator = np.random.default_rng([seed, number])
        weights = np.array([kind[0] for kind in KINDS.values()])
        kind = list(KINDS)[int(generator.choice(len(KINDS), p=weights / weights.sum()))]
        _, sizes, share, names = KINDS[kind]
        count = max(16, round(share * size))
        base = self._some(round(0.45 * count), sizes, names, generator)
        if kind.startswith("labeled"):
            base = labeled(base, generator)
        parents = np.concatenate([np.arange(len(base)), np.repeat(generator.integers(len(base), size=6), 8)])
        fresh = FreshGraphs(base).made(parents, count - len(base), generator)
        graphs = joined([base, fresh])
        graphs = graphs[np.flatnonzero((graphs.num_nodes > 1) & ~self._removal.found(graphs))]
        return graphs if kind.startswith("labeled") else without_names(graphs)

    def _some(
        self, count: int, sizes: tuple[int, int], names: tuple[str, ...] | None, generator: Generator
    ) -> ug.GraphSet:
        known = names or (*GENERATORS, "atlas", "atlas", "flow")
        drafts: list[tuple[int, Edges]] = []
        kept: list[ug.GraphSet] = []
        for _ in range(count):
            name = known[int(generator.integers(len(known)))]
            if name in self._kept:
                pool = self._kept[name]
                kept.append(pool[[int(generator.integers(len(pool)))]])
            else:
                low, high = sizes  # as many graphs of each order of magnitude
                nodes = round(np.exp(generator.uniform(np.log(low), np.log(high + 0.49))))
                drafts.append((nodes, GENERATORS[name](nodes, generator)))
        return joined([packed(drafts), *kept])

    def validation(self, size: int, seed: int) -> ug.GraphSet:
        generator = np.random.default_rng([seed, 1 << 40])
        return self._some(size, (5, 30), None, generator)


def packed(drafts: list[tuple[int, Edges]]) -> ug.GraphSet:
    """Graphs without labels from their numbers of nodes and their edges."""
    shift, edges = 0, []
    for nodes, own in drafts:
        edges += [(u + shift, v + shift) for u, v in {(min(u, v), max(u, v)) for u, v in own if u != v}]
        shift += nodes
    return ug.GraphSet.from_edges([nodes for nodes, _ in drafts], np.array(sorted(edges), np.int64).reshape(-1, 2))


def labeled(graphs: ug.GraphSet, generator: Generator) -> ug.GraphSet:
    """With labels that no other block has, from 2 to 60, frequent and rare ones; half of the time by degree."""
    count = int(np.exp(generator.uniform(np.log(2), np.log(60))))
    share = 1 / np.arange(1, count + 1) ** generator.uniform(0.5, 2.0)
    labels = generator.choice(count, len(graphs.node_labels), p=share / share.sum())
    if generator.random() < 0.5:  # what a node is depends on how many neighbors it has
        labels = (labels + np.minimum(np.diff(graphs.indptr), 4) * (generator.random(len(labels)) < 0.5)) % count
    words = tuple(f"w{word}" for word in generator.integers(1 << 62, size=count).tolist())
    return ug.GraphSet(graphs.node_offsets, graphs.indptr, graphs.indices, labels.astype(np.int32), words)


def without_names(graphs: ug.GraphSet) -> ug.GraphSet:
    return ug.GraphSet(graphs.node_offsets, graphs.indptr, graphs.indices, np.zeros_like(graphs.node_labels))


def control_flows(most: int) -> list[tuple[int, Edges]]:
    """Control-flow graphs of functions of the standard library: a node for each run of bytecode without jumps."""
    found: list[tuple[int, Edges]] = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        try:
            todo = [compile(path.read_bytes(), path.name, "exec", dont_inherit=True)]
        except (SyntaxError, ValueError):
            continue
        while todo:
            code = todo.pop()
            todo += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
            nodes, edges = _flow(code)
            if 4 <= nodes <= _LARGEST_FLOW:
                found.append((nodes, edges))
            if len(found) >= most:
                return found
    return found


def _flow(code: CodeType) -> tuple[int, Edges]:
    lines = list(dis.get_instructions(code))
    jumps = {*dis.hasjrel, *dis.hasjabs}
    ends = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD"}
    starts = {0} | {int(line.argval) for line in lines if line.opcode in jumps}
    starts |= {after.offset for line, after in pairwise(lines) if line.opcode in jumps}
    place, block_of, edges = -1, {}, []
    for line in lines:
        place += line.offset in starts
        block_of[line.offset] = place
    for line, after in zip(lines, [*lines[1:], None], strict=True):
        here = block_of[line.offset]
        if line.opcode in jumps:
            edges.append((here, block_of[int(line.argval)]))
        if after is not None and line.opname not in ends and block_of[after.offset] != here:
            edges.append((here, block_of[after.offset]))
    return place + 1, edges
