"""Fast reader of common SMILES, without a Python object per atom.

RDKit parses the text and finds the aromatic bonds; what it would do further (stereochemistry, hybridization, hydrogens)
changes no label of a graph and is left out. Atoms stand in the order of the text, so that their elements are read from
it; RDKit gives the bonds of each molecule as a matrix, and many matrices are converted into edges at once.

Only text of organic elements, without explicit hydrogens, dative bonds and the like is read here. For all other text,
and wherever RDKit complains, `read` gives None, and the molecule is read atom by atom. Both ways give the same graphs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ugraphemb.errors import needs_extra
from ugraphemb.graphs.packing import offsets_of

_ALLOWED = re.compile(r"[A-Za-z0-9@+\-\[\]()=#%./\\]+")
_ATOMS = re.compile(r"\[[^\]]*\]|Br|Cl|[BCNOPSFIbcnops]")
_BRACKET = re.compile(r"\[\d*(Br|Cl|Si|Se|[BCNOPSFI]|se|[bcnops])(?:@.*?)?(?:H\d*)?(?:[+-]+\d*)?\]")
_NAMES = {2: "single", 3: "aromatic", 4: "double", 6: "triple", 8: "quadruple"}  # by twice their order
_MOST_NODES = 100  # of a molecule, whose matrix has the square of it


class Plain(NamedTuple):
    """A molecule: element of each atom, and the order of each bond as a symmetric matrix."""

    elements: list[str]
    orders: npt.NDArray[np.float64]


class PlainReader:
    """Reads SMILES of organic molecules."""

    def __init__(self) -> None:
        with needs_extra("molecules"):
            from rdkit import Chem

        flags = Chem.SanitizeFlags
        self._parse, self._sanitize = Chem.MolFromSmiles, Chem.SanitizeMol
        self._matrix: Any = Chem.GetAdjacencyMatrix
        self._good = flags.SANITIZE_NONE
        self._steps = (
            flags.SANITIZE_CLEANUP | flags.SANITIZE_PROPERTIES | flags.SANITIZE_SYMMRINGS | flags.SANITIZE_KEKULIZE
            | flags.SANITIZE_FINDRADICALS | flags.SANITIZE_SETAROMATICITY
        )  # fmt: skip
        parameters: Any = Chem.SmilesParserParams()
        parameters.sanitize = parameters.removeHs = parameters.allowCXSMILES = False
        self._parameters = parameters
        self._elements: dict[str, str | None] = {}

    def read(self, text: str) -> Plain | None:
        """The molecule; None if it has to be read in another way, or not at all."""
        if _ALLOWED.fullmatch(text) is None:
            return None
        known = self._elements
        elements = []
        for token in _ATOMS.findall(text):
            if token not in known:
                known[token] = _element(token)
            elements.append(known[token])
        if None in elements or not 0 < len(elements) <= _MOST_NODES:
            return None
        try:
            molecule = self._parse(text, self._parameters)
            if molecule is None or self._sanitize(molecule, self._steps, catchErrors=True) != self._good:
                return None
        except (RuntimeError, ValueError):
            return None
        if molecule.GetNumAtoms() != len(elements):
            return None
        return Plain(elements, self._matrix(molecule, useBO=True))  # type: ignore[arg-type]


def _element(token: str) -> str | None:
    if token[0] != "[":
        return token.capitalize()
    found = _BRACKET.fullmatch(token)
    return None if found is None else found[1].capitalize()


def bonds_of(molecules: Sequence[Plain]) -> list[tuple[npt.NDArray[np.int64], list[str]]]:
    """Edges, shape (bonds, 2), and their labels, of each molecule."""
    sizes = np.array([len(molecule.elements) for molecule in molecules], np.int64)
    orders = np.concatenate([np.empty(0), *(molecule.orders.ravel() for molecule in molecules)])
    starts = offsets_of(sizes * sizes)
    places = np.flatnonzero(orders)
    owner = np.searchsorted(starts, places, side="right") - 1
    first, second = np.divmod(places - starts[owner], sizes[owner])
    once = first < second
    edges = np.stack([first[once], second[once]], axis=1)
    names = [_NAMES[order] for order in np.rint(2 * orders[places[once]]).astype(np.int64).tolist()]
    ends = offsets_of(np.bincount(owner[once], minlength=len(sizes))).tolist()
    return [(edges[a:b], names[a:b]) for a, b in pairwise(ends)]
