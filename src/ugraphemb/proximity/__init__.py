"""How far apart graphs are: one pair, many pairs, and tables of them."""

from ugraphemb.proximity.costs import EditCosts
from ugraphemb.proximity.distance import Distance, distance
from ugraphemb.proximity.edits import EditOperation, apply_edits
from ugraphemb.proximity.ged import EditDistance
from ugraphemb.proximity.mcs import CommonSubgraph
from ugraphemb.proximity.metrics import Metric, metric_names, metric_of
from ugraphemb.proximity.pairwise import Interrupted, pairwise
from ugraphemb.proximity.table import PairTable

__all__ = [
    "CommonSubgraph",
    "Distance",
    "EditCosts",
    "EditDistance",
    "EditOperation",
    "Interrupted",
    "Metric",
    "PairTable",
    "apply_edits",
    "distance",
    "metric_names",
    "metric_of",
    "pairwise",
]
