"""Lines across the map, and clusters on it: the paper's figures, for any two points and any disc."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ugraphemb.plots.figures import along_line, densest_clusters
from ugraphemb.web.collection import Collection
from ugraphemb.web.refusals import RefusalError

_SAMPLE = 50_000  # graphs among which dense clusters are looked for


def line(collection: Collection, start: int, stop: int, points: int) -> dict[str, Any]:
    """The graphs nearest to evenly spaced stops on the line between two graphs; see `plots.figures.along_line`."""
    if start == stop:
        raise RefusalError("invalid", "a line needs two different graphs", "to")
    if points > len(collection):
        raise RefusalError("invalid", f"{points} graphs along a line, out of {len(collection)}", "points")
    places = collection.drawn_map.coordinates.astype(np.float64)
    stops = np.linspace(places[start], places[stop], points)
    # The nearest `points` of every stop hold the answer: no more are taken by other stops.
    _, near = collection.tree().query(stops, k=min(points + 2, len(collection)))
    some = np.unique([start, stop, *np.asarray(near).ravel().tolist()])
    row = {int(position): i for i, position in enumerate(some)}
    chosen = some[along_line(places[some], row[start], row[stop], points)]
    rows = collection.row_answers(chosen)
    return {"graphs": [{**found, "stop": place} for found, place in zip(rows, stops.tolist(), strict=True)]}


def cluster(collection: Collection, x: float, y: float, radius: float | None, members: int) -> dict[str, Any]:
    """The graphs of a disc, from its center outward."""
    reach = _reach(collection) if radius is None else radius
    count = int(collection.tree().query_ball_point([x, y], reach, return_length=True)) if len(collection) else 0
    found = np.empty(0, np.int64)
    if count:
        gaps, near = collection.tree().query([x, y], k=min(members, count))
        found = np.atleast_1d(near)[np.atleast_1d(gaps) <= reach]
    return {"x": x, "y": y, "radius": reach, "count": count, "members": collection.row_answers(found)}


def central(collection: Collection, positions: npt.NDArray[np.int64], members: int) -> dict[str, Any]:
    """Of some graphs those that lie nearest to the center of all, and the disc that holds all."""
    places = collection.drawn_map.coordinates[positions].astype(np.float64)
    middle = np.median(places, axis=0)
    gaps = np.linalg.norm(places - middle, axis=1)
    found = positions[np.argsort(gaps, kind="stable")[:members]]
    return {"x": float(middle[0]), "y": float(middle[1]), "radius": float(gaps.max()), "count": len(positions),
            "members": collection.row_answers(found)}  # fmt: skip


def clusters(collection: Collection, count: int, members: int) -> dict[str, Any]:
    """The most crowded discs of the map; see `plots.figures.densest_clusters`."""
    if not len(collection):
        return {"radius": 1.0, "clusters": []}
    places = collection.drawn_map.coordinates.astype(np.float64)
    sample = np.sort(np.random.default_rng(0).permutation(len(places))[:_SAMPLE])
    reach = _reach(collection)
    centers, _ = densest_clusters(places[sample], count, radius=reach)
    spots = places[sample[centers]].tolist()
    found = [cluster(collection, x, y, reach, members) for x, y in spots]
    return {"radius": reach, "clusters": found}


def _reach(collection: Collection) -> float:
    """A fifteenth of the larger side of the map."""
    places = collection.drawn_map.coordinates
    return float(np.ptp(places, axis=0).max()) / 15 or 1.0 if len(places) else 1.0
