"""Every baseline by name, with the settings that its paper's row needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from ugraphemb.baselines.protocol import Baseline


def _lazily(home: str, **fixed: Any) -> Callable[..., Baseline]:
    """Makes the class at `home`, imported when it is called: only what is used needs its dependencies."""

    def make(**settings: Any) -> Baseline:
        module, _, name = home.partition(":")
        baseline: Baseline = getattr(import_module(f"ugraphemb.baselines.{module}"), name)(**{**fixed, **settings})
        return baseline

    return make


_OF_KERNEL = ("size", "samples", "labeled", "iterations")


def _deep(kernel: Callable[..., Baseline], **fixed: Any) -> Callable[..., Baseline]:
    """A deep kernel; settings of the substructures go to the kernel below."""

    def make(**settings: Any) -> Baseline:
        below = {**fixed, **{name: settings.pop(name) for name in _OF_KERNEL if name in settings}}
        return _lazily("deep:DeepKernel")(kernel_of=kernel(**below), **settings)

    return make


_GRAPHLET, _PATH, _WL = map(_lazily, ("kernels:GraphletKernel", "kernels:ShortestPathKernel", "kernels:WLKernel"))
_SOLVERS = ("beam", "hungarian", "vj", "hed", "branch", "refine")

BASELINES: Mapping[str, Callable[..., Baseline]] = MappingProxyType(
    {
        "gk": _GRAPHLET,
        "dgk": _deep(_GRAPHLET),
        "sp": _PATH,
        "dsp": _deep(_PATH),
        "wl": _WL,
        "dwl": _deep(_WL, iterations=2),
        "graph2vec": _lazily("graph2vec:Graph2Vec"),
        "netmf": _lazily("netmf:NetMF"),
        "graphsage": _lazily("graphsage:GraphSAGE"),
        **{method: _lazily("rankers:EditDistanceRanker", method=method) for method in _SOLVERS},
        "majority": _lazily("floors:MajorityClass"),
        "counts": _lazily("floors:LabelDegreeCounts"),
    }
)
"""Name to a function that makes the baseline; settings by keyword, as in its class."""


def baseline(name: str, **settings: Any) -> Baseline:
    """A baseline by its name, not fitted yet.

    Args:
        name: One of `BASELINES`: "gk", "sp", "wl", "dgk", "dsp", "dwl", "graph2vec", "netmf", "graphsage", "beam", ...
        settings: Settings of this baseline; `docs/baselines.md` lists them.

    Raises:
        ValueError: An unknown name.

    Examples:
        >>> from ugraphemb.baselines import baseline
        >>> model = baseline("wl", iterations=3)
    """
    if name not in BASELINES:
        raise ValueError(f"unknown baseline {name!r}; there are {', '.join(BASELINES)}")
    return BASELINES[name](**settings)
