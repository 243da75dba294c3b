"""Encoders that come with the package, one folder each: weights, settings and a card."""

from __future__ import annotations

import difflib
from pathlib import Path

import numpy as np

from ugraphemb.graphs import GraphSet

_HERE = Path(__file__).resolve().parent
_SYMBOLS = """H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y
Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au
Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og"""

ELEMENTS = tuple(_SYMBOLS.split())
"""Symbols of the chemical elements, by atomic number."""


def names() -> list[str]:
    """The encoders that there are."""
    return sorted(path.parent.name for path in _HERE.glob("*/config.json"))


def folder_of(name: str) -> Path:
    """The folder of an encoder, as `UGraphEmb.save` writes it.

    Raises:
        ValueError: There is none of this name.
    """
    known = names()
    if name in known:
        return _HERE / name
    near = difflib.get_close_matches(str(name), known, 1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"no pre-trained model {name!r}: there are {', '.join(map(repr, known)) or 'none'}{meant}")


def model_folder(model: str | Path) -> Path:
    """The folder of a model, from its path or from the name of an encoder of the package.

    Raises:
        ValueError: Neither a path nor the name of an encoder.
    """
    path = Path(model).expanduser()
    is_name = len(path.parts) == 1 and not (path / "config.json").exists()
    if not is_name or (path.exists() and str(model) not in names()):
        return path
    try:
        return folder_of(str(model))
    except ValueError as error:
        raise ValueError(f"{model}: no such folder, and {error}") from None


def suited(graphs: GraphSet) -> str:
    """The encoder for such graphs: "molecules" where all labels of nodes are elements, otherwise "graphs"."""
    labels = {graphs.node_vocabulary[code] for code in np.unique(graphs.node_labels)} if graphs.node_vocabulary else ()
    return "molecules" if labels and set(labels) <= set(ELEMENTS) else "graphs"
