"""Child processes to be killed: forked from a process that has imported everything, so that each starts at once."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

_FORK = multiprocessing.get_context("fork")
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
_PATIENCE = 120.0  # seconds that a child may be silent; longer is taken for a deadlock, not for a busy machine


class FailureError(AssertionError):
    """A failure that a torture test found. The message says how to repeat it."""


class Child:
    """`work(send)` in a forked process; what it sends is received in order, and an exception as a FailureError."""

    def __init__(self, work: Callable[[Callable[[Any], None]], None]) -> None:
        self._received, sending = _FORK.Pipe(duplex=False)
        self._process = _FORK.Process(target=_run, args=(work, sending))
        self._process.start()
        sending.close()

    def receive(self, timeout: float = _PATIENCE) -> Any:
        """The next message; None when there is none within the time, or when the process is gone.

        Raises:
            FailureError: The process ended with an exception or was stopped by a signal that we did not send.
        """
        if not self._received.poll(timeout):
            if timeout >= _PATIENCE:
                self.kill()
                raise FailureError(f"nothing was heard for {timeout:.0f} s: a deadlock?")
            return None
        try:
            kind, message = self._received.recv()
        except (EOFError, OSError):
            self._process.join()
            if self._process.exitcode not in (0, None):
                raise FailureError(f"the process ended with exit code {self._process.exitcode}") from None
            return None
        if kind == "failed":
            self._process.join()
            raise FailureError(message)
        return message

    def kill(self) -> list[Any]:
        """Sends SIGKILL at once; returns the messages that the process had sent before."""
        self._process.kill()
        self._process.join()
        rest = []
        try:
            while self._received.poll(0):
                kind, message = self._received.recv()
                if kind == "failed":
                    raise FailureError(message)
                rest.append(message)
        except (EOFError, OSError):
            pass
        finally:
            self._received.close()
        return rest

    def messages(self) -> list[Any]:
        """All messages that it sends until it ends."""
        found = []
        while (message := self.receive()) is not None:
            found.append(message)
        self._process.join()
        self._received.close()
        return found


def _run(work: Callable[[Callable[[Any], None]], None], pipe: Connection) -> None:
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)  # with its parent
    try:
        work(lambda message: pipe.send(("sent", message)))
    except BaseException:
        pipe.send(("failed", traceback.format_exc()))
        os._exit(1)
    os._exit(0)
