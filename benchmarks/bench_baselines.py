"""Baselines on NCI109: kernels beside grakel, graph2vec beside plain gensim, and the time of the others.

Each entry runs in a process of its own. The clock is CPU time of all threads, from graphs in memory (in the form that
each library wants) to the kernel matrix of all 4,127 graphs or to their vectors: the best of three runs, or of fewer if
three do not fit into twenty seconds. Equal answers are checked: WL and SP entry by entry (grakel counts ordered pairs
of nodes, so SP is compared with these weights); graphlets, which grakel samples (150 sets of 3 to 5 nodes per graph)
and ugraphemb counts exactly, by correlation.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from report import Report, data_root, parser

SAMPLES, FASTER = 150, 10.0
EPOCHS, WIDTH, INFERRED = 10, 256, 500
OTHERS: dict[str, dict[str, Any]] = {
    "dgk": {}, "dsp": {}, "dwl": {}, "netmf": {}, "graphsage": {"epochs": 1}, "counts": {},
}  # fmt: skip


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Best CPU time of up to three runs, no more than fit into twenty seconds; and the answer."""
    times: list[float] = []
    while not times or (len(times) < 3 and sum(times) + times[-1] < 20):
        start = time.process_time()
        answer = work()
        times.append(time.process_time() - start)
    return min(times), answer


def graphs_of(path: Path) -> Any:
    from ugraphemb import read_graphs

    return read_graphs(path)


def for_grakel(name: str, graphs: Any) -> list[Any]:
    """Lists of neighbors, and labels; for shortest paths, where grakel fails on isolated nodes, edges and labels."""
    inputs = []
    for graph in graphs.to_networkx():
        edges = {*graph.edges, *((v, u) for u, v in graph.edges)}
        neighbors = {u: list(graph[u]) for u in graph}
        inputs.append((edges if name == "sp" else neighbors, {u: graph.nodes[u]["label"] for u in graph}))
    return inputs


def our_kernel(name: str, graphs: Any) -> tuple[float, Any]:
    from ugraphemb.baselines.kernels import GraphletKernel, ShortestPathKernel, WLKernel, gram

    if name == "wl":
        return timed(lambda: gram(WLKernel(iterations=5).fit_transform(graphs)))
    if name == "sp":
        kernel = ShortestPathKernel()
        seconds, _ = timed(lambda: gram(kernel.fit_transform(graphs)))
        triples = kernel._counter.triples()
        weight = np.where(triples[:, 0] == triples[:, 1], 2, np.sqrt(2))
        return seconds, gram(kernel.transform(graphs).multiply(weight).tocsr())

    def graphlets() -> Any:
        counts = [GraphletKernel(size=size).fit_transform(graphs).toarray() for size in (3, 4, 5)]
        shares = np.concatenate([part / np.maximum(part.sum(1, keepdims=True), 1) for part in counts], axis=1)
        return shares @ shares.T

    return timed(graphlets)


def grakel_kernel(name: str, graphs: Any) -> tuple[float, Any]:
    from grakel import GraphletSampling, ShortestPath, VertexHistogram, WeisfeilerLehman

    inputs = for_grakel(name, graphs)
    kernel = {
        "wl": lambda: WeisfeilerLehman(n_iter=5, base_graph_kernel=VertexHistogram),
        "sp": lambda: ShortestPath(with_labels=True),
        "gk": lambda: GraphletSampling(k=5, sampling={"n_samples": SAMPLES}, random_state=0),
    }[name]()
    return timed(lambda: kernel.fit_transform(inputs))


def our_graph2vec(graphs: Any) -> dict[str, float]:
    from ugraphemb.baselines.graph2vec import Graph2Vec

    model = Graph2Vec(width=WIDTH, epochs=EPOCHS)
    fit, _ = timed(lambda: model.fit(graphs))
    infer, _ = timed(lambda: model.transform(graphs[:INFERRED]))
    return {"fit": fit, "infer": infer, "vocabulary": len(model._fitted.model.wv)}  # type: ignore[union-attr]


def gensim_graph2vec(graphs: Any) -> dict[str, float]:
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    from ugraphemb.baselines.graph2vec import Graph2Vec
    from ugraphemb.proximity.substructures import WLColors

    settings = Graph2Vec(width=WIDTH, epochs=EPOCHS)
    words = WLColors(settings.iterations).colors(graphs, learn=True).T
    documents = [
        TaggedDocument(list(map(str, words[start:stop].ravel().tolist())), [i])
        for i, (start, stop) in enumerate(zip(graphs.node_offsets[:-1], graphs.node_offsets[1:], strict=True))
    ]
    options: dict[str, Any] = {
        "dm": 0, "vector_size": WIDTH, "epochs": EPOCHS, "alpha": settings.rate, "min_alpha": settings.last_rate,
        "negative": settings.negatives, "min_count": settings.min_count, "sample": settings.subsampling,
        "workers": 1, "seed": 0,
    }  # fmt: skip
    fit, model = timed(lambda: Doc2Vec(documents, **options))
    infer, _ = timed(lambda: [model.infer_vector(document.words) for document in documents[:INFERRED]])
    return {"fit": fit, "infer": infer, "vocabulary": len(model.wv), "words": int(words.size)}


def other(name: str, graphs: Any) -> dict[str, float]:
    import torch

    from ugraphemb.baselines import baseline

    torch.set_num_threads(1)
    model = baseline(name, **OTHERS[name])
    baseline(name, **OTHERS[name]).fit(graphs[:2])  # imports do not count
    fit, _ = timed(lambda: model.fit(graphs))
    transform, _ = timed(lambda: model.transform(graphs))  # type: ignore[attr-defined]
    return {"fit": fit, "transform": transform}


def measure(what: str, name: str, path: Path, folder: Path) -> dict[str, Any]:
    """Runs in a process of its own."""
    warnings.simplefilter("ignore")
    graphs = graphs_of(path)
    if what == "graph2vec":
        return our_graph2vec(graphs) if name == "ugraphemb" else gensim_graph2vec(graphs)
    if what == "other":
        return other(name, graphs)
    run = our_kernel if what == "ugraphemb" else grakel_kernel
    run(name, graphs[:20])  # imports do not count
    seconds, matrix = run(name, graphs)
    np.save(folder / f"{what}-{name}.npy", matrix)
    return {"seconds": seconds}


def measured(what: str, name: str, path: Path, folder: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", what, name, str(path), str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def agreement(name: str, folder: Path) -> tuple[bool, str]:
    ours, theirs = (np.load(folder / f"{library}-{name}.npy") for library in ("ugraphemb", "grakel"))
    if name != "gk":
        gap = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
        return gap < 1e-9, f"largest difference {gap:.1e} of the largest entry"
    for matrix in (ours, theirs):
        scale = np.sqrt(np.diagonal(matrix)).copy()
        matrix /= scale
        matrix /= scale[:, None]
    above = np.triu_indices(len(ours), 1)
    correlation = float(np.corrcoef(ours[above], theirs[above])[0, 1])
    return correlation > 0.9, f"correlation {correlation:.3f} of exact and sampled kernels"


def main() -> None:
    options = parser(__doc__)
    arguments = options.parse_args()
    path = data_root(arguments.data) / "NCI109" / "NCI109.zip"
    report = Report("baselines", "Baselines on NCI109", seed=0, note=" ".join((__doc__ or "").split()))
    rows = []
    titles = {"gk": "graphlets of 3, 4 and 5 nodes", "sp": "shortest paths", "wl": "WL, 5 rounds"}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, title in titles.items():
            ours, theirs = (measured(library, name, path, folder)["seconds"] for library in ("ugraphemb", "grakel"))
            rows.append({"kernel": title, "ugraphemb CPU s": ours, "grakel CPU s": theirs, "times": theirs / ours})
            report.check(
                f"{name}: {FASTER:g} times faster than grakel", theirs / ours >= FASTER, f"{theirs / ours:.0f}"
            )
            same, found = agreement(name, folder)
            report.check(f"{name}: the same kernel", same, found)
        report.table("Kernel matrices of all graphs", rows)
        ours, theirs = (measured("graph2vec", library, path, folder) for library in ("ugraphemb", "gensim"))
        words = theirs["words"] * EPOCHS
        report.table(
            f"graph2vec, {EPOCHS} epochs, width {WIDTH}",
            [
                {
                    "library": library,
                    "fit CPU s": entry["fit"],
                    "million words/s": words / entry["fit"] / 1e6,
                    f"infer {INFERRED} graphs CPU s": entry["infer"],
                    "vocabulary": entry["vocabulary"],
                }
                for library, entry in (("ugraphemb", ours), ("gensim, documents in memory", theirs))
            ],
        )
        ratio = theirs["fit"] / ours["fit"]
        report.check("graph2vec: at least as fast as gensim's documents", ratio >= 1, f"{ratio:.2f} times")
        report.check("graph2vec: the same vocabulary", ours["vocabulary"] == theirs["vocabulary"])
        entries = {name: measured("other", name, path, folder) for name in OTHERS}
    report.table(
        "The others, CPU s",
        [
            {"baseline": name, "settings": str(OTHERS[name] or "default"), **entry}
            for name, entry in entries.items()
        ],
    )  # fmt: skip
    report.finish(write=not arguments.no_write)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2], sys.argv[3], Path(sys.argv[4]), Path(sys.argv[5]))))
    else:
        main()
