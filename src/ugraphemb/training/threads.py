"""Number of threads of torch."""

from __future__ import annotations

import threading

import torch

from ugraphemb.cores import available_cores


class torch_threads:  # noqa: N801
    """Sets the number of torch threads inside the block; 0 keeps it, limited to the cores available to the process.

    The number is global to the process. Of overlapping blocks, each sets it on entry, and the last one restores it.
    """

    _lock = threading.Lock()
    _inside = 0
    _before = 0

    def __init__(self, threads: int) -> None:
        self.threads = threads if threads > 0 else min(torch.get_num_threads(), available_cores())

    def __enter__(self) -> None:
        with torch_threads._lock:
            if torch_threads._inside == 0:
                torch_threads._before = torch.get_num_threads()
            torch_threads._inside += 1
            if torch.get_num_threads() != self.threads:
                torch.set_num_threads(self.threads)

    def __exit__(self, *exception: object) -> None:
        with torch_threads._lock:
            torch_threads._inside -= 1
            if torch_threads._inside == 0 and torch.get_num_threads() != torch_threads._before:
                torch.set_num_threads(torch_threads._before)
