"""Faults at every call of the two ways in which files are written, and at some calls of everything that is saved.

`make torture` disturbs every call of all of them.
"""

from __future__ import annotations

import random

import pytest
from torture.faults import Step, faulted, steps
from torture.writers import BASIC, WRITERS


@pytest.mark.parametrize("step", [step for writer in BASIC.values() for step in steps(writer)], ids=str)
def test_every_fault_leaves_the_old_or_the_new(step: Step):
    found = faulted(step, 0, lambda calls: calls)
    assert found["deaths"] >= 12 * found["calls"] // 2
    assert found["errors"] >= 6 * found["calls"]
    assert found["old"]
    assert found["new"]


@pytest.mark.parametrize("name", WRITERS)
def test_a_fault_in_any_save_leaves_the_old_or_the_new(name: str):
    found = faulted(Step(WRITERS[name], 0), 0, lambda calls: random.Random(name).sample(calls, 2))
    assert found["deaths"] >= 24
    assert found["errors"] == 16
