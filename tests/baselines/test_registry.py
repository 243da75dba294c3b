from __future__ import annotations

import numpy as np
import pytest
from baselines.collections_of_graphs import random_graphs

from ugraphemb.baselines import BASELINES, Baseline, Embedder, Kernel, Ranker, baseline

TINY = {
    "dgk": {"width": 4, "words": 500}, "dsp": {"width": 4, "words": 500}, "dwl": {"width": 4, "words": 500},
    "graph2vec": {"width": 4, "epochs": 2}, "netmf": {"width": 4}, "graphsage": {"width": 4, "epochs": 1},
}  # fmt: skip


def test_every_row_of_the_papers_tables_is_there() -> None:
    rows = {"gk", "dgk", "sp", "dsp", "wl", "dwl", "graph2vec", "netmf", "graphsage", "beam", "hungarian", "vj", "hed"}
    assert rows < set(BASELINES)


@pytest.mark.parametrize("name", list(BASELINES))
def test_every_baseline_answers_for_unseen_graphs(name: str) -> None:
    graphs, unseen = random_graphs(6, high=6), random_graphs(3, seed=1, high=6)
    model = baseline(name, **TINY.get(name, {}))
    assert isinstance(model, Baseline)
    assert model.fit(graphs) is model
    answers = []
    if isinstance(model, Embedder):
        answers.append(model.transform(unseen))
    if isinstance(model, Kernel):
        answers.append(model.kernel(unseen, graphs))
    if isinstance(model, Ranker):
        answers.append(model.distances(unseen))
    assert answers
    for answer in answers:
        dense = answer if isinstance(answer, np.ndarray) else answer.toarray()
        assert len(dense) == 3
        assert np.isfinite(dense).all()


def test_settings_of_a_deep_kernel_reach_the_kernel_below() -> None:
    deep = baseline("dwl", iterations=1, width=3)
    assert (deep.kernel_of.iterations, deep.width) == (1, 3)  # type: ignore[attr-defined]


def test_unknown_names_and_settings_are_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown baseline 'node2vec'; there are gk, dgk"):
        baseline("node2vec")
    with pytest.raises(TypeError, match="depth"):
        baseline("wl", depth=3)
