"""Other ways to compare graphs: kernels, their deep variants, learned vectors, solvers, and two floors.

>>> from ugraphemb.baselines import baseline
>>> model = baseline("netmf", width=64)
"""

from ugraphemb.baselines.protocol import Baseline, Embedder, Kernel, Ranker
from ugraphemb.baselines.registry import BASELINES, baseline

__all__ = ["BASELINES", "Baseline", "Embedder", "Kernel", "Ranker", "baseline"]
