"""The methods that are compared: each gives vectors, a kernel or distances of graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import ugraphemb as ug
from experiments.cells import digest
from experiments.lab import Lab
from ugraphemb.baselines import baseline
from ugraphemb.tasks import predicted_proximity

NAMES = {
    "gk": "GK", "dgk": "DGK", "sp": "SP", "dsp": "DSP", "wl": "WL", "dwl": "DWL", "graph2vec": "graph2vec",
    "netmf": "NetMF", "graphsage": "GraphSAGE", "beam": "Beam", "hungarian": "Hungarian", "vj": "VJ", "hed": "HED",
    "majority": "floor: majority class", "counts": "floor: label and degree counts",
    "paper": "UGraphEmb, the paper's preset, clipped",
    "paper@tight": "UGraphEmb, the paper's preset, clipped, tight truth",
    "ugraphemb@paper": "UGraphEmb, ours, learned from the paper's truth",
    "ugraphemb": "UGraphEmb, ours of release 0.1", "ugraphemb-f": "UGraphEmb-F, ours of release 0.1, its vectors",
}  # fmt: skip
SOLVERS = ("beam", "hungarian", "vj", "hed")
KERNELS = ("gk", "sp", "wl", "dgk", "dsp", "dwl")
AVERAGED = ("netmf", "graphsage")
AVERAGINGS = ("mean", "degree", "inverse_degree", "sum")
SLOW = ("dgk", "dsp", "dwl", "graph2vec", "netmf", "graphsage", "beam")  # these come after the cheap ones
EMBEDDINGS: dict[str, tuple[str, str]] = {  # preset and truth
    "ugraphemb": ("default", "tight"), "ugraphemb-f": ("default", "tight"), "ugraphemb@paper": ("default", "paper"),
    "paper": ("paper", "paper"), "paper@tight": ("paper", "tight"),
}  # fmt: skip


@dataclass
class Candidate:
    """One way in which a method can be run; the one that counts is chosen on validation graphs.

    Attributes:
        scheme: The better known part of the choice: "features", "kernel", an averaging. Each is reported.
        choice: The settings, in words.
        vectors: (graphs, width), if it gives vectors.
        kernel: (graphs, graphs), if it gives a kernel; `squared` then holds squared distances in its feature space.
    """

    scheme: str
    choice: str
    vectors: Any = None
    kernel: Any = None
    squared: Any = None

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.scheme, self.choice)))


def tier(method: str) -> int:
    """UGraphEmb first, then what is cheap, then the rest."""
    if method == "ugraphemb":
        return 1
    return 3 if method in SLOW or method.startswith("paper") else 2


def settings(method: str, lab_settings: Any, data: str) -> dict[str, Any]:
    """The settings that are part of the key of a cell."""
    if method in EMBEDDINGS:
        preset, truth = EMBEDDINGS[method]
        extra = {"finetuning": lab_settings["methods"]["finetuning"]} if method == "ugraphemb-f" else {}
        return {"model": lab_settings.model(data, preset, truth), **extra}
    grid = lab_settings["methods"].get("grids", {}).get(method)
    cut = {"columns": lab_settings["methods"]["columns"]} if method in ("gk", "sp", "wl") else {}
    return {**({"grid": grid} if grid else {}), **cut}


def candidates(lab: Lab, cell: Any) -> Iterator[Candidate]:
    """Every way to run the method of a cell; not for solvers."""
    method, data = cell.method, cell.data
    if method in EMBEDDINGS:
        yield Candidate("", "", embedding(lab, cell))
        return
    for choice in cell.settings.get("grid", [{}]):
        words = " ".join(f"{key}={value}" for key, value in choice.items())
        if method in KERNELS:
            yield from _kernel(lab, data, method, choice, words)
        elif method in AVERAGED:
            for averaging in AVERAGINGS:
                yield Candidate(averaging, words, _averaged(lab, cell, choice, averaging))
        else:
            yield Candidate("", words, _vectors(lab, data, method, choice))


def embedding(lab: Lab, cell: Any) -> Any:
    """Vectors of UGraphEmb, fine-tuned on the classes of training and validation graphs if the method says so."""
    spec = cell.settings["model"]
    trained = lab.learned(cell.data, cell.split, spec)
    if cell.method != "ugraphemb-f":
        return trained.vectors
    steps = cell.settings["finetuning"]
    fit, graphs = lab.split(cell.data, cell.split).fit, lab.graphs(cell.data)

    def tuned() -> Any:
        model = trained.model().set_params(progress=False, threads=1)
        return model.finetune(graphs[fit], graphs.targets[fit], steps=steps).transform(graphs)

    return lab.kept(trained.folder / f"tuned-{steps}.npy", tuned)


def _kernel(lab: Lab, data: str, method: str, choice: dict[str, Any], words: str) -> Iterator[Candidate]:
    """As published: the kernel of all graphs, and the counts (for deep kernels their projection) as features."""
    graphs = lab.graphs(data)
    if method.startswith("d"):
        features = _vectors(lab, data, method, choice)
        raw = kernel = features @ features.T
    else:
        model = baseline(method, **choice).fit(graphs)
        features, kernel = model.transform(graphs), model.kernel(graphs)
        raw = baseline(method, **choice, normalized=False).fit(graphs).kernel(graphs)
        features = frequent(features, lab.settings["methods"]["columns"])
    yield Candidate("features", words, features)
    size = np.diagonal(raw)
    yield Candidate("kernel", words, kernel=kernel, squared=np.maximum(size[:, None] + size - 2 * raw, 0))


def frequent(features: Any, count: int) -> Any:
    """The columns with entries in most graphs, at most `count`, dense."""
    seen = np.asarray((features != 0).sum(axis=0)).ravel()
    common = np.sort(np.argsort(-seen, kind="stable")[:count])
    return features[:, common] if isinstance(features, np.ndarray) else features.tocsc()[:, common].toarray()


def _averaged(lab: Lab, cell: Any, choice: dict[str, Any], averaging: str) -> Any:
    """NetMF uses only the graph itself; GraphSAGE learns from the training graphs of the split."""
    graphs = lab.graphs(cell.data)
    split = cell.split if cell.method == "graphsage" else "all"
    folder = lab.cache / "vectors" / cell.data / f"{cell.method}-{split}-{digest(choice)}"

    def all_averagings() -> Any:
        seed = {"seed": cell.split} if cell.method == "graphsage" else {}
        model = baseline(cell.method, **choice, **seed).fit(graphs[lab.split(cell.data, cell.split).train])
        return np.stack([model.transform(graphs, name) for name in AVERAGINGS]).astype(np.float32)

    return lab.kept(folder / "vectors.npy", all_averagings)[AVERAGINGS.index(averaging)]


def _vectors(lab: Lab, data: str, method: str, choice: dict[str, Any]) -> Any:
    """Vectors of methods that, as published, see all graphs at once: the same for every split."""
    graphs = lab.graphs(data)

    def make() -> Any:
        model = baseline(method, **choice)
        return model.fit_transform(graphs) if method == "graph2vec" else model.fit(graphs).transform(graphs)

    return lab.kept(lab.cache / "vectors" / data / f"{method}-{digest(choice)}" / "vectors.npy", make)


def proximities(candidate: Candidate, queries: Any, database: Any) -> Iterator[tuple[str, Any, str]]:
    """Both ways to compare that the paper tries, by name, with "distance" or "similarity"."""
    if candidate.vectors is not None:
        left, right = candidate.vectors[queries], candidate.vectors[database]
        yield "l2", predicted_proximity(left, right, "l2"), "distance"
        yield "inner", predicted_proximity(left, right, "inner"), "similarity"
    else:
        yield "l2", candidate.squared[np.ix_(queries, database)], "distance"
        yield "inner", candidate.kernel[np.ix_(queries, database)], "similarity"


def predicted(model: ug.UGraphEmb, vectors: Any, queries: Any, database: Any) -> Any:
    """The normalized proximity that UGraphEmb predicts."""
    return model.proximity(vectors[queries], vectors[database])
