"""The result of a search: matches, each with bounds of its distance, and a certificate for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ugraphemb.graphs import Graph
from ugraphemb.proximity.costs import EditCosts
from ugraphemb.proximity.distance import distance
from ugraphemb.proximity.edits import EditOperation, changes_of, edit_path


@dataclass(frozen=True)
class Match:
    """A graph that a search has found.

    Attributes:
        id: Id of the graph.
        rank: 1 is the best.
        distance: Edit distance, the cost of `mapping`; nan without verification.
        lower: Lower bound on the edit distance; nan without verification.
        upper: Upper bound on the edit distance; nan without verification.
        proven: Whether the distance is known to be the true one.
        predicted: The normalized distance (or similarity) that the model predicts from the vectors.
        mapping: For each node of the query its image in the graph, -1 if it is deleted; None without verification.
        metadata: Metadata of the graph.
        query: The query.
        graph: The graph.

    Examples:
        >>> import ugraphemb as ug
        >>> graphs = ug.GraphSet.from_smiles(["CCO", "CCN", "CCCO", "CCC(=O)O"])
        >>> index = ug.GraphIndex(ug.UGraphEmb(seed=0, steps=5).fit(graphs)).add(graphs)
        >>> match = index.search("CCO", k=2, complete=True)[1]
        >>> match.id, match.distance, match.proven, match.changes()
        ('1', 1.0, True, 'O → N')
    """

    id: str
    rank: int
    distance: float
    lower: float
    upper: float
    proven: bool
    predicted: float
    mapping: npt.NDArray[np.int32] | None = field(repr=False, compare=False)
    metadata: dict[str, Any]
    query: Graph = field(repr=False, compare=False)
    graph: Graph = field(repr=False, compare=False)
    costs: EditCosts = field(repr=False, compare=False)

    @property
    def normalized(self) -> float:
        """The distance divided by the mean number of nodes of the two graphs, which is what models learn."""
        return self.distance / ((self.query.num_nodes + self.graph.num_nodes) / 2 or 1.0)

    def edit_path(self) -> list[EditOperation]:
        """The edits that turn the query into the graph; without verification those of `explained`, found now."""
        mapping = self.explained().mapping
        assert mapping is not None
        return edit_path(self.query, self.graph, mapping, self.costs)

    def explained(self, timeout: float | None = None) -> Match:
        """The same match with bounds and a map, by `tight` within this many seconds; unchanged if it has them."""
        if self.mapping is not None:
            return self
        answer = distance(self.query, self.graph, costs=self.costs, timeout=timeout)
        return replace(
            self, distance=answer.value, lower=answer.lower, upper=answer.upper, proven=answer.proven,
            mapping=answer.mapping,
        )  # fmt: skip

    def changes(self) -> str:
        """The edits in a line: "C → N, +2 O, −1 edge"."""
        return changes_of(self.edit_path())


@dataclass(frozen=True)
class Certificate:
    """What a verified search has proven about its matches.

    Attributes:
        proven: No other graph of the scope comes before a match; with `within`, no other one is within that distance.
        ordered: Their order is the true one, too.
        scope: "shortlist": among the nearest by vectors; "database": among all graphs (that `where` selects).
        graphs: Number of graphs in the scope.
        removed: Number of graphs that each bound ruled out: size, labels, degrees, branch, tight, exact.
        undecided: Ids of graphs that may belong to the answer; empty if it is proven.
        seconds: Duration of the verification.

    Examples:
        >>> import ugraphemb as ug
        >>> graphs = ug.GraphSet.from_smiles(["CCO", "CCN", "CCCO", "CCC(=O)O"])
        >>> index = ug.GraphIndex(ug.UGraphEmb(seed=0, steps=5).fit(graphs)).add(graphs)
        >>> matches = index.search("CCO", k=2, complete=True)
        >>> certificate = matches.certificate
        >>> certificate.scope, certificate.graphs, certificate.proven
        ('database', 4, True)
    """

    proven: bool
    ordered: bool
    scope: Literal["shortlist", "database"]
    graphs: int
    removed: dict[str, int]
    undecided: tuple[str, ...]
    seconds: float
    found: int
    within: float | None = None

    def __str__(self) -> str:
        what = f"the {self.found} nearest" if self.within is None else f"all within {self.within:g}"
        scope = f"{self.graphs:,} graphs" + (" of the shortlist" if self.scope == "shortlist" else "")
        ruled_out = ", ".join(f"{name} {count:,}" for name, count in self.removed.items() if count)
        text = f"{'proven' if self.proven else 'not proven'}: {what} of {scope}"
        text += f"; ruled out by {ruled_out}" if ruled_out else ""
        return text + (f"; {len(self.undecided):,} undecided" if self.undecided else "")


class Matches(list[Match]):
    """The matches of one query, best first.

    Attributes:
        certificate: What is proven about them; None without verification.

    Examples:
        >>> import ugraphemb as ug
        >>> graphs = ug.GraphSet.from_smiles(["CCO", "CCN", "CCCO", "CCC(=O)O"])
        >>> index = ug.GraphIndex(ug.UGraphEmb(seed=0, steps=5).fit(graphs)).add(graphs)
        >>> matches = index.search("CCO", k=2, complete=True)
        >>> [match.id for match in matches], matches.certificate.proven
        (['0', '1'], True)
    """

    def __init__(self, matches: Iterable[Match] = (), certificate: Certificate | None = None) -> None:
        super().__init__(matches)
        self.certificate = certificate

    def _repr_html_(self) -> str:
        """A table with a drawing of each match, for notebooks; see `Graph._repr_html_`."""
        drawn: str = import_module("ugraphemb.plots.notebook").matches_html(self)
        return drawn
