"""The main job in two minutes: read molecules, search them without training, then learn vectors that fit them better.

Pictures go to out/.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import ugraphemb as ug
from ugraphemb.plots import draw_graph, edit_figure, new_figure, save_figure
from ugraphemb.tasks.ranking import ranking

OUT = Path("out")
ASPIRIN, SALICYLIC_ACID = "CC(=O)Oc1ccccc1C(=O)O", "O=C(O)c1ccccc1O"
SEED = 0


def heading(text: str) -> None:
    print(f"\n=== {text}", flush=True)


def edits(count: float) -> str:
    return f"{count:g} edit{'' if count == 1 else 's'}"


def draw(graphs: ug.GraphSet, titles: list[str], path: Path) -> None:
    rows = -(-len(graphs) // 6)
    figure = new_figure(15, 2.7 * rows)
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.02, top=0.93, hspace=0.25, wspace=0.05)
    for place, (graph, title) in enumerate(zip(graphs, titles, strict=True), start=1):
        axes = figure.add_subplot(rows, 6, place)
        draw_graph(graph, axes)
        axes.set_title(title, fontsize=9)
    save_figure(figure, path, dpi=110)
    print(f"drawn: {path}")


def main() -> None:
    OUT.mkdir(exist_ok=True)
    heading("4,999 molecules of the National Cancer Institute, as they come with RDKit")
    molecules = ug.load_dataset("molecules")
    print(molecules.summary())
    sample = molecules[np.random.default_rng(SEED).permutation(len(molecules))[:12]]
    draw(sample, [f"{graph.id}: {graph.num_nodes} atoms" for graph in sample], OUT / "molecules.png")

    heading("how far is aspirin from salicylic acid? (exact edit distance)")
    aspirin, acid = ug.GraphSet.from_smiles([ASPIRIN, SALICYLIC_ACID], ids=["aspirin", "salicylic acid"])
    result = ug.distance(aspirin, acid, method="exact")
    print(f"{edits(result.value)}, {'proven' if result.proven else 'not proven'}:")
    for operation in result.edit_path():
        print(f"  {operation}")

    heading("aspirin is not among the 4,999: which are most similar? No training: a model comes with the package")
    started = time.perf_counter()
    index = ug.GraphIndex().add(molecules)
    print(f"{index} in {time.perf_counter() - started:.1f} s")
    started = time.perf_counter()
    print(f"by vectors alone: {', '.join(match.id for match in index.search(aspirin, 5))}", end="")
    print(f" ({1000 * (time.perf_counter() - started):.0f} ms)")
    matches = index.search(aspirin, 5, complete=True, budget=30)
    assert matches.certificate is not None
    print(f"{matches.certificate} ({1000 * matches.certificate.seconds:.0f} ms)")
    for match in matches:
        sure = "proven" if match.proven else f"at least {match.lower:g}"
        print(f"  {match.rank}. molecule {match.id}: {edits(match.distance)} ({sure}), {match.changes()}")
    print(f"from aspirin to molecule {matches[0].id}:")
    for operation in matches[0].edit_path():
        print(f"  {operation}")
    figure = edit_figure(
        aspirin,
        [match.graph for match in matches],
        [match.mapping for match in matches if match.mapping is not None],
        titles=[f"{match.rank}. molecule {match.id}: {edits(match.distance)}" for match in matches],
        notes=[match.changes() for match in matches],
        title=f"aspirin and the nearest of {len(index):,} molecules{', proven' * matches.certificate.proven}",
    )
    save_figure(figure, OUT / "search.png", dpi=130)
    print(f"drawn: {OUT / 'search.png'}")
    index.save(OUT / "index")
    print(f"saved: {OUT / 'index'}; now try  ugraphemb search {OUT / 'index'} 'CC(C)Cc1ccc(cc1)C(C)C(=O)O' --verify")

    heading("what training adds: the same model, adapted to 400 of the molecules by the edit distances of their pairs")
    order = np.random.default_rng(SEED).permutation(len(molecules))
    training, unseen = molecules[order[:400]], molecules[order[400:480]]
    truth = ug.pairwise(unseen, training).normalized().matrix()
    started = time.perf_counter()
    adapted = ug.UGraphEmb(seed=SEED).fit(training, start="molecules", held_out=np.arange(300, 400), avoid=unseen)
    seconds = time.perf_counter() - started
    print(f"80 molecules that training never saw, each ranking the 400 ({seconds:.0f} s of training):")
    for name, model in (("as shipped", index.model), ("adapted", adapted)):
        predicted = model.proximity(model.transform(unseen), model.transform(training))
        print(f"{name}:")
        print(ranking(predicted, truth))
    print("the model of the package has seen molecules like these; graphs of other kinds gain more: see docs/models.md")
    print("\nto see all molecules on a map, and to draw, search and compare them in the browser:  make serve")


if __name__ == "__main__":
    main()
