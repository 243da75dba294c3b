"""Shared by experiments: graphs, splits, distances, trained models. All but graphs and splits are kept on disk."""

from __future__ import annotations

import json
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ugraphemb as ug
from experiments.cells import digest, lock
from experiments.settings import REFERENCE, Settings
from ugraphemb.files import write_file
from ugraphemb.files.arrays import npy_bytes
from ugraphemb.proximity.plans import planned_pairs
from ugraphemb.tasks import Split, random_splits

# Arguments of `ugraphemb.pairwise` for each name of true distances; other names are methods of edit distance.
PAPER_COSTS = ug.EditCosts(edge_relabel=0)  # graphs of the paper have no edge labels
TEACHERS: dict[str, dict[str, Any]] = {
    "exact": {"method": "exact", "timeout": 1.0, "costs": PAPER_COSTS},
    "mcs": {"metric": "mcs", "timeout": 0.01},
    "graphlet": {"metric": "graphlet"},
}
SEED = 0  # of the splits; split i is the same for all methods


@dataclass(frozen=True)
class Trained:
    """A trained model: vectors of all graphs of the set, in order, and where the model is."""

    vectors: np.ndarray[Any, Any]
    folder: Path
    run: dict[str, Any]

    def model(self) -> ug.UGraphEmb:
        return ug.UGraphEmb.load(self.folder)


class Lab:
    """Gives graphs, splits, distances and models, each computed once.

    Args:
        settings: Settings of the current mode.
        data: Folder of data sets; None leaves it to `load_dataset`.
        cache: Folder for distances, vectors and models.
        figures: Folder for pictures.
        threads: For distances; 0 is every core. Networks are trained on one.
    """

    def __init__(self, settings: Settings, data: Path | None, cache: Path, figures: Path, threads: int = 0) -> None:
        self.settings, self.data, self.cache, self.figures, self.threads = settings, data, cache, figures, threads
        self._graphs: dict[str, ug.GraphSet] = {}
        self._tables: OrderedDict[Any, ug.PairTable] = OrderedDict()

    def graphs(self, name: str) -> ug.GraphSet:
        if name not in self._graphs:
            self._graphs = {name: ug.load_dataset(name, root=self.data)}  # one at a time: memory
        return self._graphs[name]

    def split(self, name: str, number: int) -> Split:
        """Training, validation and test graphs, 6:2:2, classes in proportion."""
        graphs = self.graphs(name)
        return random_splits(len(graphs), SEED, number + 1, graphs.targets)[number]

    def asked(self, name: str, number: int, *sources: str, test: bool = True) -> tuple[Any, Any]:
        """Test (or validation) queries and training graphs, few enough for all of these true distances and methods."""
        split, graphs = self.split(name, number), self.graphs(name)
        queries, database = split.test if test else split.validation, split.train
        caps = [self.settings.cap(name, source) for source in sources]
        random = np.random.default_rng([SEED, number])
        order, database_order = random.permutation(len(queries)), random.permutation(len(database))
        asked = min([cap["queries"] for cap in caps if "queries" in cap] + ([] if test else [100]), default=None)
        known = min([cap["database"] for cap in caps if "database" in cap], default=None)
        queries, database = np.sort(queries[order[:asked]]), np.sort(database[database_order[:known]])
        for cap in caps:
            if "nodes" in cap:
                queries = queries[graphs.num_nodes[queries] <= cap["nodes"]]
                database = database[graphs.num_nodes[database] <= cap["nodes"]]
        return queries, database

    def distances(self, name: str, source: str, number: int, queries: Any, database: Any) -> np.ndarray[Any, Any]:
        """Normalized proximities, true or computed by a method, (queries, database)."""
        table = self.table(name, source, number)
        matrix = (table.normalized() if table.sizes else table).matrix()[np.ix_(queries, database)]
        if np.ma.isMaskedArray(matrix):
            assert not matrix.mask.any(), f"{name} {source}: pairs are missing"
        return np.asarray(matrix)

    def table(self, name: str, source: str, number: int) -> ug.PairTable:
        """Proximities of all pairs of a set, or, if these are too many, of the pairs that this split needs."""
        cap = self.settings.cap(name, source)
        pairs = self._needed(name, source, number) if cap else None
        return self.pairwise(name, source, pairs, (number, digest(cap)) if cap else None)

    def pairwise(self, name: str, source: str, pairs: Any, mark: Any) -> ug.PairTable:
        """Proximities of these pairs (None: all), from the store where they are known."""
        key = (name, source, mark)
        if key not in self._tables:
            how = TEACHERS.get(source, {"method": source, "costs": PAPER_COSTS})
            folder = self.cache / "pairs" / name / source
            with lock(folder.with_suffix(".lock")):
                table = ug.pairwise(self.graphs(name), pairs, store=folder, threads=self.threads, **how)
            self._tables[key] = table
            while len(self._tables) > 3:
                self._tables.popitem(last=False)
        self._tables.move_to_end(key)
        return self._tables[key]

    def _needed(self, name: str, source: str, number: int) -> Any:
        """Pairs of training graphs, in blocks, and of validation and test queries with training graphs."""
        split, cap = self.split(name, number), self.settings.cap(name, source)
        parts = []
        if cap.get("training"):
            parts.append(split.train[planned_pairs(len(split.train), "blocks", budget=cap["training"], seed=number)])
        for test in (False, True):
            queries, database = self.asked(name, number, source, test=test)
            parts.append(np.stack(np.meshgrid(queries, database, indexing="ij"), -1).reshape(-1, 2))
        return np.unique(np.sort(np.concatenate(parts), axis=1), axis=0)

    def learned(self, name: str, number: int, spec: dict[str, Any], chosen: Split | None = None) -> Trained:
        """A model trained on the training graphs of a split and selected on its validation graphs.

        Args:
            spec: From `Settings.model`.
            chosen: Other training and validation graphs than those of the split; the spec then has to say which.
        """
        folder = self.cache / "models" / name / f"{number}-{digest(spec)}"

        def train() -> np.ndarray[Any, Any]:
            started = time.monotonic()
            model = self._train(name, number, spec, chosen or self.split(name, number), folder)
            model.save(folder)
            run = {key: model.about_[key] for key in ("pairs", "steps", "best_step", "validation")}
            write_file(folder / "run.json", json.dumps({**run, "seconds": time.monotonic() - started}).encode())
            return model.transform(self.graphs(name))

        vectors = self.kept(folder / "vectors.npy", train)
        return Trained(vectors, folder, json.loads((folder / "run.json").read_text()))

    def _train(self, name: str, number: int, spec: dict[str, Any], split: Split, folder: Path) -> ug.UGraphEmb:
        fit = split.fit
        graphs = self.graphs(name)[fit]
        table = self.table(name, spec["truth"], number).among(fit, graphs)
        if spec["share"] < 1:
            table = thinned(table, np.isin(fit, split.train), spec["share"], number)
        settings = {**REFERENCE, **spec["changes"]}
        model = ug.UGraphEmb(preset="paper", settings=settings, seed=number, threads=1, progress=False)
        folder.mkdir(parents=True, exist_ok=True)
        checkpoint = folder / "checkpoint"
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="stopped at step")
            try:
                held_out = np.flatnonzero(np.isin(fit, split.validation))
                model.fit(graphs, table, held_out=held_out, checkpoint=checkpoint, resume=True)
            except UserWarning:  # Ctrl-C: the checkpoint is written, the model is not finished
                raise KeyboardInterrupt from None
        checkpoint.unlink(missing_ok=True)
        return model

    def kept(self, path: Path, make: Callable[[], Any]) -> np.ndarray[Any, Any]:
        """An array on disk; it is computed and written atomically if it does not exist."""
        with lock(path.parent.with_suffix(".lock")):
            if not path.exists():
                array = np.asarray(make())
                write_file(path, npy_bytes(array))
        return np.load(path)


def thinned(table: ug.PairTable, training: Any, share: float, seed: int) -> ug.PairTable:
    """A share of the pairs of two training graphs, at least two of them; pairs with a validation graph all stay."""
    both = np.flatnonzero(training[table.left] & training[table.right])
    count = max(2, round(share * len(both)))
    kept = np.random.default_rng(seed).permutation(both)[:count]
    stays = ~(training[table.left] & training[table.right])
    stays[kept] = True
    return table.where(stays)
