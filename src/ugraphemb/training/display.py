"""Progress of training: a live line, and logs."""

from __future__ import annotations

import csv
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ugraphemb.files import storage_errors
from ugraphemb.progress import Tick, progress_of
from ugraphemb.training.loop import Report


class Display:
    """A progress line on stderr (step, loss, validation τ, time left), and a CSV file or a TensorBoard folder."""

    def __init__(self, steps: int, progress: bool | None, log: str | Path | None) -> None:
        self._steps, self._progress = steps, progress
        self._log = None if log is None else Path(log)
        self._tensorboard: Any = None
        self._score = ""
        self._stack = ExitStack()
        self._tick: Tick

    def __enter__(self) -> Display:
        if self._log is not None and self._log.suffix != ".csv":
            from ugraphemb.errors import needs_extra

            with needs_extra("tensorboard"):
                from torch.utils.tensorboard import SummaryWriter
            self._tensorboard = SummaryWriter(str(self._log))
        elif self._log is not None:
            with storage_errors(self._log):
                self._log.parent.mkdir(parents=True, exist_ok=True)
            with storage_errors(self._log), self._log.open("w", newline="") as file:
                csv.writer(file).writerow(["step", "loss", "validation_loss", "validation_tau", "seconds"])
        self._tick = self._stack.enter_context(progress_of(self._steps, "training", self._progress))
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)
        if self._tensorboard is not None:
            self._tensorboard.close()

    def tick(self, step: int, loss: float) -> None:
        self._tick(step, f"loss {loss:.5f}{self._score}")

    def report(self, report: Report) -> None:
        self._score = f"  validation τ {report.score.tau:.3f} (best {report.best.tau:.3f})"
        row = [report.step, report.loss, report.score.loss, report.score.tau, report.seconds]
        if self._tensorboard is not None:
            for name, value in zip(("loss", "validation loss", "validation tau"), row[1:4], strict=True):
                self._tensorboard.add_scalar(name, value, report.step)
        elif self._log is not None:
            with storage_errors(self._log), self._log.open("a", newline="") as file:
                csv.writer(file).writerow(row)

    def report_accuracy(self, step: int, loss: float, accuracy: float) -> None:
        self._score = f"  validation accuracy {accuracy:.3f}"
        self.tick(step, loss)
