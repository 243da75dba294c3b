"""How many cores this process may use."""

from __future__ import annotations

import math
import os
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # control groups, version 2: "200000 100000" is two cores, "max 100000" all
_OLD_QUOTA = Path("/sys/fs/cgroup/cpu")  # version 1


def available_cores() -> int:
    """Cores by affinity (`taskset`) and by the limit of the container, at least 1."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    share = _container_share()
    return max(1, allowed if share is None else min(allowed, math.ceil(share)))


def _container_share() -> float | None:
    """Cores that the control group may use together; None if there is no limit."""
    try:
        if _QUOTA.exists():
            quota, _, period = _QUOTA.read_text().partition(" ")
        else:
            quota = (_OLD_QUOTA / "cpu.cfs_quota_us").read_text()
            period = (_OLD_QUOTA / "cpu.cfs_period_us").read_text()
        return float(quota) / float(period) if float(quota) > 0 else None
    except (OSError, ValueError, ZeroDivisionError):
        return None
