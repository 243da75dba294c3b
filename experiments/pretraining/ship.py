"""Puts a trained encoder into the package, and writes its card and docs/models.md from the records.

    python -m experiments.pretraining.ship molecules --trained build/pretraining    a new model, then its card
    python -m experiments.pretraining.ship                                         only the cards, after an evaluation

Labels of nodes are put in the order of their frequency in the data (see ugraphemb.encoder.carrying).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from experiments.pretrained import SETS, digest_of, finished
from ugraphemb.encoder.carrying import carried
from ugraphemb.encoder.features import Vocabulary
from ugraphemb.encoder.storage import read_model, write_model

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BOX = ROOT / "src" / "ugraphemb" / "pretrained"
REMOVED = HERE.parent / "results" / "pretraining"
DOCS = ROOT / "docs" / "models.md"
FREQUENT = ("C", "N", "O", "H", "S", "F", "Cl", "Br", "P", "I", "Si", "B", "Na", "Se", "K", "Sn", "As")

ABOUT: dict[str, dict[str, str]] = {
    "molecules": {
        "summary": "molecules: nodes labeled by element, edges by bond order, or not labeled",
        "good": (
            "Molecules of up to about 45 heavy atoms, or 60 atoms with explicit hydrogens: nodes labeled by element "
            'symbol, edges by "single", "double", "triple" and "aromatic" as `GraphSet.from_smiles` gives them, or not '
            "labeled. The default costs, or `EditCosts(edge_relabel=0)`."
        ),
        "data": (
            "Molecules of MOSES (package molsets 0.3.1, MIT; from ZINC), RDKit's 4,999 (BSD) and PubChem's of the "
            "package chemicals (MIT); random edits, connected parts and mixtures of them. Blocks of molecules with "
            "bonds, without bonds, small ones and ones with hydrogens. No molecule is part of the package. The first "
            "100,000 molecules of MOSES were held out."
        ),
        "limits": (
            "Larger molecules, polymers and proteins; charges and stereochemistry, which graphs do not hold; labels "
            "of bonds that are not named as above, which all count as one; rankings of nearly equal distances. It "
            "predicts normalized edit distances; search with `verify=True` where they must be right."
        ),
    },
    "graphs": {
        "summary": "graphs of any kind, unlabeled, or with labels of nodes that need not be known",
        "good": (
            "Graphs of 3 to some hundred nodes without labels: trees, rings, grids, social and random graphs, control "
            "flow. Labels of nodes may be any values: each gets a fixed random code, and nodes know how many others "
            "of their graph have their label."
        ),
        "data": (
            "Random graphs of fifteen kinds (trees, rings, grids, communities, ego networks, threads of discussions, "
            "..., 3 to 250 nodes), NetworkX's atlas (BSD), control-flow graphs of Python's standard library (PSF); "
            "edits, parts and mixtures of them. Ego networks, small trees and threads are the most frequent. In one "
            "of seven blocks nodes have labels that no other block has."
        ),
        "limits": (
            "Labels of edges are not seen. Dense graphs of more than a hundred nodes; graphs with hundreds of "
            "labels, such as words of documents: train a model for them. It predicts normalized edit distances; search "
            "with `verify=True` where they must be right."
        ),
    },
}  # fmt: skip

HOW = {
    "molecules": (
        "Three runs, each of which continues from the weights of the one before (`--start`): 132,000 steps, a number "
        "that was increased by `--resume`; 12,000 with a third of the learning rates and with anchored vectors; and "
        "48,000 (60,000 until step 8,067) with half of the learning rates, after the network was widened from 64 to "
        "176 channels and from 512 to 1,024 hidden units (experiments/pretraining/widening.py)."
    )
}
PAGE = """# Pre-trained models

Two models come with the package, so that search needs no training: `ug.GraphIndex()` takes the one that suits the
graphs, and `ug.UGraphEmb.pretrained(name)` gives it. `ugraphemb models` lists them, and `ugraphemb models NAME` prints
the card below. A model that is trained on your graphs for some minutes is better for them; `fit(graphs, start=name)`
adapts a shipped one in a tenth of the steps (on small molecules this is better than as many steps from the beginning,
see AIDS10).

The figures are those of `experiments/results/pretrained.md`: τ (Kendall's) and p@10 of test graphs that rank training
graphs, by edit distance without labels of edges. "Zero-shot" models saw no graph of the set; adapted and trained ones
saw the training graphs of the split.
"""


def card_of(name: str, about: dict[str, Any]) -> str:
    """The card, with the figures of the shipped weights."""
    text = ABOUT[name]
    lines = [f"# {name}", "", text["good"], "", "```python", "import ugraphemb as ug", ""]
    lines += [f'model = ug.UGraphEmb.pretrained("{name}")', "```", "", "## Data", "", text["data"], ""]
    lines += [f"{about['pairs']:,} pairs, {about['steps']:,} steps, seed {about['seed']}.", HOW.get(name, ""), ""]
    lines += [*_removed(name), "## Figures", "", *_figures(name), "## Limits", "", text["limits"], ""]
    return "\n".join(lines)


def _removed(name: str) -> list[str]:
    path = REMOVED / f"{name}-removed.json"
    if not path.exists():
        return []
    counts = json.loads(path.read_text())
    sets = list(next(iter(counts.values()))["sets"])
    lines = [
        "Graphs of evaluation sets are removed from the data: graphs of each set that were found, for each source.",
        "",
    ]
    lines += [f"| | {' | '.join(counts)} |", "|" + "---|" * (len(counts) + 1)]
    for known in sets:
        found = [source["sets"][known]["of these in the data"] for source in counts.values()]
        total = next(iter(counts.values()))["sets"][known]["graphs of the set"]
        lines.append(f"| {known} ({total:,}) | {' | '.join(map(str, found))} |")
    kept = [f"{source['left']:,} of {source.get('molecules', source.get('graphs')):,}" for source in counts.values()]
    return [*lines, f"| left | {' | '.join(kept)} |", ""]


def _figures(name: str) -> list[str]:
    known = [entry for entry in finished() if entry.get("weights") == digest_of(entry["row"])]
    lines = ["| set | | splits | τ | p@10 |", "|---|---|---|---|---|"]
    for data in SETS:
        rows = dict.fromkeys(entry["row"] for entry in known if entry.get("set") == data)
        if not any(row.startswith(name) for row in rows):
            continue
        for row in rows:
            if row.startswith((name, "trained")):
                found = {entry["split"]: entry for entry in known if (entry["row"], entry.get("set")) == (row, data)}
                scores = [np.mean([entry[key] for entry in found.values()]) for key in ("tau", "p@10")]
                lines.append(f"| {data} | {row} | {len(found)} | {scores[0]:.3f} | {scores[1]:.3f} |")
    last = {entry["row"]: entry for entry in known}
    if entry := last.get(f"{name}, MOSES"):
        lines += [
            "",
            f"Among {entry['molecules']:,} held-out molecules of MOSES vectors alone find {entry['recall@10']:.0%} "
            f"of the ten nearest ({entry['queries']} queries). Edits are predicted with a mean error of "
            f"{entry['mean absolute error']:.2f} (mean distance {entry['mean distance']:.1f}).",
        ]
    if entry := last.get(f"{name}, start"):
        lines += [
            "",
            f"A fresh process that reads {entry['graphs']:,} molecules, adds them to an index and asks one of them "
            f"takes {min(entry['cpu seconds'])} s of CPU.",
        ]
    return [*lines, ""]


def ship(name: str, trained: Path) -> None:
    """A model from its folder into the package."""
    saved = read_model(trained / name)
    vocabulary = saved.vocabulary
    if name == "molecules":
        first = [label for label in FREQUENT if label in vocabulary.node_labels]
        rest = [label for label in vocabulary.node_labels if label not in first]
        vocabulary = Vocabulary((*first, *rest), vocabulary.edge_labels)
    weights = carried(saved.config, saved.vocabulary, saved.weights, vocabulary)
    about = {**saved.about, "summary": ABOUT[name]["summary"]}
    REMOVED.mkdir(parents=True, exist_ok=True)
    counts = json.loads((trained / f"{name}-removed.json").read_text())
    (REMOVED / f"{name}-removed.json").write_text(json.dumps(counts, indent=1) + "\n")
    write_model(BOX / name, saved.config, vocabulary, weights, about, card_of(name, about))
    (BOX / name / ".lock").unlink(missing_ok=True)


def write_cards() -> None:
    """Writes the cards and the page of the documentation that contains them."""
    page = [*PAGE.splitlines(), ""]
    for path in sorted(BOX.glob("*/config.json"), reverse=True):
        name, saved = path.parent.name, read_model(path.parent)
        card = card_of(name, saved.about)
        (path.parent / "README.md").unlink()
        write_model(path.parent, saved.config, saved.vocabulary, saved.weights, saved.about, card)
        (path.parent / ".lock").unlink(missing_ok=True)
        page.append(card.replace("\n## ", "\n### ").replace("# ", "## ", 1))
    DOCS.write_text("\n".join(page))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="NAME")
    parser.add_argument("--trained", type=Path, default=ROOT / "build" / "pretraining", help="folder of the models")
    given = parser.parse_args()
    for name in given.models:
        ship(name, given.trained)
    write_cards()


if __name__ == "__main__":
    main()
