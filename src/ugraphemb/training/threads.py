"""How many threads torch uses."""

from __future__ import annotations

import threading

import torch

from ugraphemb.cores import available_cores


class torch_threads:  # noqa: N801
    """Sets the number of threads of torch inside the block; 0 keeps its setting, limited to the cores of this process.

    The number is one for the whole process: of blocks that overlap, the first sets it and the last restores it.
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
