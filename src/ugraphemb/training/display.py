"""How training shows itself: a live line, and logs."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

from ugraphemb.files import storage_errors
from ugraphemb.training.loop import Report


class Display:
    """A progress line on stderr (step, loss, validation τ, time left), and a CSV file or a TensorBoard folder."""

    def __init__(self, steps: int, progress: bool | None, log: str | Path | None) -> None:
        self._steps = steps
        self._shown = sys.stderr.isatty() if progress is None else progress
        self._log = None if log is None else Path(log)
        self._tensorboard: Any = None
        self._bar: Any = None
        self._task: Any = None

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
        if self._shown:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("training"), BarColumn(), TextColumn("{task.completed}/{task.total}"),
                TextColumn("{task.fields[text]}"), TimeRemainingColumn(),
                console=Console(stderr=True), refresh_per_second=4,
            )  # fmt: skip
            self._task = self._bar.add_task("", total=self._steps, text="")
            self._bar.start()
        self._score = ""
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._tensorboard is not None:
            self._tensorboard.close()

    def tick(self, step: int, loss: float) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=step, text=f"loss {loss:.5f}{self._score}")

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
