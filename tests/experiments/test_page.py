"""The page says what the cells say, and no more."""

from __future__ import annotations

from pathlib import Path

from experiments.cells import Cell, Ledger
from experiments.methods import NAMES
from experiments.page import NOT_RUN, Book, Found, verdict, write_page
from experiments.ranking import cells as ranking_cells
from experiments.settings import Settings

ABOUT = {"seconds": 1.0, "date": "2026-01-01T00:00:00+00:00", "commit": "abc", "machine": "toy", "seed": 0}


def scores(tau: float) -> dict[str, dict[str, float]]:
    return {"tight": {"tau": tau, "p@10": 0.5, "strict p@10": 0.4, "mse": 0.1}}


def test_a_verdict_is_passed_from_the_papers_number_on_and_else_says_what_is_missing():
    assert verdict(0.840, 0.840) == "**passed**"
    assert verdict(0.9, 0.84) == "**passed**"
    assert verdict(0.8, 0.84) == "short by 0.040"
    assert verdict(0.8399, 0.84) == "short by 0.001"  # never short by 0.000
    assert verdict(72.0, 72.54, 1) == "short by 0.5"
    assert verdict(None, 0.84) == NOT_RUN


def test_a_missing_cell_is_shown_as_not_run(toy: Path):
    write_page(toy / "results", toy / "docs" / "results.md", toy / "config.toml")
    rows = [
        line for line in (toy / "docs" / "results.md").read_text().splitlines() if line.startswith("| UGraphEmb, ours")
    ]
    assert len(rows) == 2  # ranking and classification
    assert all(NOT_RUN in row and "passed" not in row for row in rows)


def test_a_cell_on_the_page_is_the_mean_and_deviation_over_its_splits(toy: Path):
    for cell, tau in zip([c for c in ranking_cells(Settings("full", toy / "config.toml")) if c.method == "hed"],
                         (0.25, 0.75), strict=True):  # fmt: skip
        Ledger(toy / "results", "ranking", "TOY").add(cell, scores(tau), ABOUT)
    write_page(toy / "results", toy / "docs" / "results.md", toy / "config.toml")
    row = next(line for line in (toy / "docs" / "results.md").read_text().splitlines() if line.startswith("| HED"))
    assert "0.500 ± 0.354" in row


def test_full_cells_count_before_quick_ones_and_the_two_are_never_mixed(toy: Path):
    modes = [Settings(mode, toy / "config.toml") for mode in ("full", "quick")]
    full, quick = ([c for c in ranking_cells(mode) if c.method == "ugraphemb"] for mode in modes)
    assert full[0].key != quick[0].key  # other steps
    ledger = Ledger(toy / "results", "ranking", "TOY")
    ledger.add(quick[0], scores(0.2), ABOUT)
    found = Book(toy / "results", modes).find("ranking", "TOY", "ugraphemb")
    assert found.numbers("tight", "tau") == [0.2]
    assert found.count == "1, 20 steps (quick)"
    ledger.add(full[1], scores(0.8), ABOUT)
    found = Book(toy / "results", modes).find("ranking", "TOY", "ugraphemb")
    assert found.numbers("tight", "tau") == [0.8]
    assert found.count == "1 of 2, 40 steps"


def test_a_torn_last_line_spoils_nothing_but_itself(tmp_path: Path):
    ledger, cells = Ledger(tmp_path, "ranking", "TOY"), [Cell("ranking", "TOY", "wl", split) for split in range(3)]
    ledger.add(cells[0], {"x": 0.0}, ABOUT)
    ledger.add(cells[1], {"x": 1.0}, ABOUT)
    ledger.path.write_bytes(ledger.path.read_bytes()[:-20])
    assert list(ledger.rows()) == [cells[0].key]
    ledger.add(cells[2], {"x": float("nan")}, ABOUT)
    assert [row["values"]["x"] for row in ledger.rows().values()] == [0.0, None]


def test_other_settings_make_another_cell():
    one, other = (Cell("ranking", "TOY", "wl", 0, {"grid": [{"iterations": n}]}) for n in (1, 2))
    assert one.key != other.key
    assert one.key == Cell("ranking", "TOY", "wl", 0, {"grid": [{"iterations": 1}]}, tier=3).key  # when is not what


def test_a_value_that_no_split_has_is_a_dash():
    cell = Cell("ranking", "TOY", "wl", 0)
    assert Found([(cell, {"values": {"tight": {"tau": 0.5}}})], 1).text("tight", "mse") == "–"
    assert Found().text("tight", "mse") == NOT_RUN


def test_cells_of_the_papers_preset_are_named_by_the_clipping_that_they_were_trained_with():
    settings = Settings()
    clipped = settings.model("PTC", "paper", "tight")
    assert clipped["changes"] == {}  # the key of the finished cells
    assert all("clipped" in NAMES[name] for name in ("paper", "paper@tight"))
    del settings.content["paper"]
    assert settings.model("PTC", "paper", "tight")["changes"] == {"clip": 0.0}  # exactly as published: another cell
    assert "clip" not in settings.model("PTC", "default", "tight")["changes"]
