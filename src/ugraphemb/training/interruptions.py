"""Ctrl-C and SIGTERM during training: deferred until the run can be saved."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

_DEFAULTS: dict[signal.Signals, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


class HeldSignals:
    """Records the first signal inside the `with` block instead of acting on it; a second one raises KeyboardInterrupt.

    Does nothing outside of the main thread, nor for signals for which the program has its own handler.

    Attributes:
        received: The first signal, or None.
    """

    def __init__(self, *signals: signal.Signals) -> None:
        self._signals = signals
        self._held: list[signal.Signals] = []
        self.received: signal.Signals | None = None

    def __enter__(self) -> HeldSignals:
        if threading.current_thread() is threading.main_thread():
            self._held = [number for number in self._signals if signal.getsignal(number) is _DEFAULTS[number]]
        for number in self._held:
            signal.signal(number, self._receive)
        return self

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            raise KeyboardInterrupt
        self.received = signal.Signals(number)

    def __exit__(self, *exception: object) -> None:
        for number in self._held:
            signal.signal(number, _DEFAULTS[number])
