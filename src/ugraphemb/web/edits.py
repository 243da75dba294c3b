"""The edits from one graph to another: a map of nodes, the edits in order, and pictures of every step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs import Graph, concatenated
from ugraphemb.plots.drawing import LabelColors
from ugraphemb.plots.marks import CHANGED, GONE, NEW, Marks, aims_of, edit_marks
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.proximity.distance import distance
from ugraphemb.proximity.edits import EditOperation, changes_of, edit_path
from ugraphemb.web.bodies import Theme
from ugraphemb.web.drawings import Look, Places, Scene, drawing, shown, sketch
from ugraphemb.web.graph_answers import graph_answer, label_answer

Mapping = npt.NDArray[np.int32]
_MARK = {"delete": GONE, "relabel": CHANGED, "insert": NEW}


def edits_answer(
    left: Graph, right: Graph, *, costs: EditCosts, budget: float, chemical: bool, drawings: bool, size: int,
    theme: Theme,
) -> dict[str, Any]:  # fmt: skip
    """See `answers.EditsAnswer`. Exact where that is proven within the budget; else the best map, with its bounds."""
    found = distance(left, right, method="exact", costs=costs, timeout=budget)
    assert found.mapping is not None
    mapping = found.mapping
    operations = edit_path(left, right, mapping, costs)
    before = Look.of(left, chemical)
    home = before.places
    after = Look.of(right, chemical, aims_of(home, right, mapping))
    away = _aligned(home, after.places, mapping)
    nodes, edges = _changes(left, right, mapping, home, away)
    mean = (left.num_nodes + right.num_nodes) / 2
    return {
        "left": {**graph_answer(left), **shown(before, home)},
        "right": {**graph_answer(right), **shown(after, away)},
        "distance": found.value,
        "lower": found.lower,
        "upper": found.upper,
        "proven": found.proven,
        "normalized": found.value / (mean or 1.0),
        "mapping": mapping.tolist(),
        "changes": changes_of(operations),
        "operations": [_operation(step) for step in operations],
        "nodes": nodes,
        "edges": edges,
        "drawings": _drawings(left, right, mapping, operations, nodes, home, away, chemical, size, theme, costs)
        if drawings
        else None,
    }


def _aligned(home: Places, away: Places, mapping: Mapping) -> Places:
    """The right drawing, moved so that nodes that are kept stay near their places."""
    kept = np.flatnonzero(mapping >= 0)
    if len(kept):
        return np.asarray(away + home[kept].mean(axis=0) - away[mapping[kept]].mean(axis=0))
    return np.asarray(away + home.mean(axis=0)) if len(home) and len(away) else away


def _operation(step: EditOperation) -> dict[str, Any]:
    return {
        "operation": step.operation, "nodes": list(step.nodes), "old": label_answer(step.old),
        "new": label_answer(step.new), "cost": step.cost, "text": str(step),
    }  # fmt: skip


def _changes(
    left: Graph, right: Graph, mapping: Mapping, home: Places, away: Places
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Nodes and edges of both graphs together, by the names that operations use."""
    old, new = left.node_labels, right.node_labels
    name_of = {int(to): u for u, to in enumerate(mapping.tolist()) if to >= 0}
    nodes = []
    for u, to in enumerate(mapping.tolist()):
        kept = to >= 0
        change = "removed" if not kept else "kept" if _same(old[u], new[to]) else "relabeled"
        nodes.append(
            {"name": u, "left": u, "right": to if kept else None, "old": label_answer(old[u]),
             "new": label_answer(new[to]) if kept else None, "from": home[u].tolist(),
             "to": (away[to] if kept else home[u]).tolist(), "change": change}
        )  # fmt: skip
    for x in range(right.num_nodes):
        if x not in name_of:
            name_of[x] = len(nodes)
            nodes.append(
                {"name": len(nodes), "left": None, "right": x, "old": None, "new": label_answer(new[x]),
                 "from": away[x].tolist(), "to": away[x].tolist(), "change": "added"}
            )  # fmt: skip
    before = Scene.of(left, home, Marks()).edges
    after = {
        (min(ends), max(ends)): label
        for (u, v), label in Scene.of(right, away, Marks()).edges.items()
        for ends in [(name_of[u], name_of[v])]
    }
    edges = []
    for edge in sorted(before.keys() | after.keys()):
        change = (
            "removed" if edge not in after else "added" if edge not in before
            else "kept" if _same(before[edge], after[edge]) else "relabeled"
        )  # fmt: skip
        edges.append(
            {"nodes": list(edge), "old": label_answer(before.get(edge)), "new": label_answer(after.get(edge)),
             "change": change}
        )  # fmt: skip
    return nodes, edges


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and left == right


def _drawings(
    left: Graph, right: Graph, mapping: Mapping, operations: Sequence[EditOperation], nodes: list[dict[str, Any]],
    home: Places, away: Places, chemical: bool, size: int, theme: Theme, costs: EditCosts,
) -> dict[str, Any]:  # fmt: skip
    colors = LabelColors.of(concatenated([left.graphs[[left.position]], right.graphs[[right.position]]]))
    first, second = edit_marks(left, right, mapping, edge_labels=costs.edge_relabel != 0)
    both = [
        drawing(graph, chemical=chemical, colors=colors, size=size, theme=theme, marks=marks, toward=toward)
        for graph, marks, toward in ((left, first, None), (right, second, aims_of(home, right, mapping)))
    ]
    every = np.array([place for node in nodes for place in (node["from"], node["to"])], np.float64).reshape(-1, 2)
    frame = (every.min(axis=0), every.max(axis=0)) if len(every) else None
    steps = []
    scene_nodes, scene_edges = dict(enumerate(left.node_labels)), dict(Scene.of(left, home, Marks()).edges)
    for done in range(len(operations) + 1):
        marks = _marks(operations[done - 1 : done] if done else [], operations[done : done + 1])
        share = done / max(1, len(operations))
        places = {
            node["name"]: (np.array(node["from"]) + share * (np.array(node["to"]) - np.array(node["from"]))).tolist()
            for node in nodes
            if node["name"] in scene_nodes
        }
        scene = Scene(places, dict(scene_nodes), dict(scene_edges), marks, frame)
        steps.append(sketch(scene, colors=colors, chemical=chemical, size=size, theme=theme))
        if done < len(operations):
            _apply(operations[done], scene_nodes, scene_edges)
    return {"left": both[0], "right": both[1], "steps": steps}


def _marks(before: Sequence[EditOperation], after: Sequence[EditOperation]) -> Marks:
    """What has just been added or relabeled, and what is about to be removed or relabeled."""
    marks = Marks()
    shown = [step for step in after if not step.operation.startswith("insert")]
    shown += [step for step in before if not step.operation.startswith("delete")]
    for step in shown:
        color = _MARK[step.operation.split(" ")[0]]
        if step.operation.endswith("node"):
            marks.nodes[step.nodes[0]] = color
        else:
            marks.edges[step.nodes[0], step.nodes[1]] = color
    return marks


def _apply(step: EditOperation, nodes: dict[int, Any], edges: dict[tuple[int, int], Any]) -> None:
    if step.operation == "delete node":
        del nodes[step.nodes[0]]
    elif step.operation == "delete edge":
        del edges[step.nodes[0], step.nodes[1]]
    elif step.operation.endswith("node"):
        nodes[step.nodes[0]] = step.new
    else:
        edges[step.nodes[0], step.nodes[1]] = step.new
