"""The allowed values of settings."""

from typing import Literal

Convolution = Literal["gin", "gcn", "sage", "gat"]
Readout = Literal["msna", "msna_sum", "attention", "supersource", "sum", "average"]
Aggregation = Literal["sum", "log"]
Activation = Literal["relu", "gelu"]
Compression = Literal["none", "log", "log_mean"]
Head = Literal["l2", "l1", "sized_l1", "squared_l2", "pseudo_l2", "raised_l2", "inner"]
