"""A few hundred damaged files of every format; `make fuzz` tries 200,000."""

from __future__ import annotations

import pytest
from torture.fuzz import fuzzed
from torture.targets import TARGETS

# A save of a model, an index or a checkpoint takes seconds. The others together take about as long as one of them.
_QUICK = [target for name, target in TARGETS.items() if not name.startswith(("saved", "forged"))]


@pytest.mark.parametrize("target", _QUICK, ids=lambda target: target.name)
def test_damaged_files_are_read_or_refused(target):
    if target.name.startswith(("set.smi", "set.csv", "set.tsv", "set.sdf")):
        pytest.importorskip("rdkit")
    outcome = fuzzed(target, range(1_000_000, 1_000_000 + int(150 * target.share)), seed=1)
    assert outcome.problems == []
    assert outcome.inputs == outcome.read + outcome.refused
    assert outcome.refused
