"""The names that settings may take, and what a head makes of coordinates."""

from typing import Literal

Convolution = Literal["gin", "gcn", "sage", "gat"]
Readout = Literal["msna", "attention", "supersource", "sum", "average"]
Compression = Literal["none", "log", "log_mean"]
Head = Literal["l2", "l1", "squared_l2", "pseudo_l2", "inner"]


FLOOR = 0.01
"""The least share of the Euclidean distance that "pseudo_l2" is: zero is for equal vectors alone."""


def negative_part(dimension: int) -> int:
    """How many of a vector's coordinates, its last, count against the distance in "pseudo_l2"."""
    return dimension // 4
