"""The final map replaces the provisional one while the page is in use: nothing that is open is lost."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from web.browsing import MOLECULES, Server, Visit, saved

from ugraphemb.tasks.large_maps import LargeMap
from ugraphemb.web import service

pytestmark = pytest.mark.browser


class Maker:
    """Computes the final map when told to: other places in another range."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go = threading.Event()
        monkeypatch.setattr(service, "fit_large_map", self.fit)

    def fit(self, vectors: Any, head: Any, *, tick: Any) -> LargeMap:
        while not self.go.wait(0.02):
            tick(0.5)
        places = np.random.default_rng(1).normal(500, 90, (len(vectors), 2)).astype(np.float32)
        sample = np.arange(len(vectors))
        # By "pca" a query has the place of its nearest graph.
        return LargeMap(places, sample, np.asarray(vectors), head, "pca")


@pytest.fixture
def opened(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Visit, Maker]]:
    """The page on an index without a stored map, and what lets its final map arrive."""
    folder = tmp_path / "molecules"
    shutil.copytree(saved("molecules"), folder, ignore=shutil.ignore_patterns("map.arrow"))
    maker = Maker(monkeypatch)
    server = Server(folder, early=True)
    one = Visit(browser, server.address)
    yield one, maker
    maker.go.set()
    one.close()
    server.stop()


def arrive(one: Visit, maker: Maker) -> None:
    """Lets the final map arrive and waits until the page has fetched it and shows it if it may."""
    with one.page.expect_response("**/api/map"):
        maker.go.set()
    one.page.locator(".head .progress").wait_for(state="detached")


def drawn_inside(one: Visit, position: int) -> bool:
    x, y = one.place(position)
    box = one.page.locator(".surface").bounding_box()
    return bool(box["x"] < x < box["x"] + box["width"] and box["y"] < y < box["y"] + box["height"])


def test_search_selection_filter_pins_and_scroll_survive(opened: tuple[Visit, Maker]) -> None:
    one, maker = opened
    one.open("#color=kind")
    page = one.page
    page.locator(".head .progress").wait_for()
    page.get_by_role("button", name="chain").click()
    one.pin(12)
    one.settle()
    page.locator(".surface").focus()
    page.keyboard.press("v")
    page.locator(".selection h2").wait_for()
    heading = page.locator(".selection h2").inner_text()
    page.get_by_role("tab", name="Search").click()
    one.ask("CCO")
    verdict = one.prove()
    names, pins = one.names(), page.locator(".pin-name span").all_inner_texts()
    page.locator(".panel-content").evaluate("element => { element.scrollTop = 120; }")
    before = one.place(30)

    arrive(one, maker)

    page.wait_for_function("() => window.ugraphemb.isFinal()")
    assert one.place(30) != before
    assert one.names() == names
    assert page.locator(".certificate .verdict").inner_text() == verdict
    assert page.locator(".pin-name span").all_inner_texts() == pins
    assert page.locator(".panel-content").evaluate("element => element.scrollTop") == 120
    assert page.locator(".groups [aria-pressed=false]").count() == 1
    assert page.get_by_role("textbox").input_value() == "CCO"
    page.get_by_role("tab", name="Selection").click()
    assert page.locator(".selection h2").inner_text() == heading
    assert "color=kind" in page.url
    assert all(drawn_inside(one, position) for position in (0, 30, 150, MOLECULES - 1))  # the whole new map is shown


def test_the_query_lies_where_the_new_map_has_it(opened: tuple[Visit, Maker]) -> None:
    one, maker = opened
    one.open()
    one.ask("CCO")
    one.prove()
    arrive(one, maker)
    one.page.wait_for_function("() => window.ugraphemb.isFinal()")
    answer = one.page.evaluate(
        "fetch('/api/embed', {method: 'POST', headers: {'Content-Type': 'application/json'},"
        " body: JSON.stringify({queries: [{smiles: 'CCO'}]})}).then(answer => answer.json())"
    )
    one.page.wait_for_function(
        """place => {
            const star = document.querySelector(".overlay .star"); // there is none until the server has placed it
            const [left, top] = star?.getAttribute("transform").match(/-?[\\d.]+/g) ?? [NaN, NaN];
            const [x, y] = window.ugraphemb.onScreen(place);
            return Math.hypot(left - x, top - y) < 1;
        }""",
        arg=answer["places"][0],
    )


def test_a_zoomed_view_stays_with_its_graphs(opened: tuple[Visit, Maker]) -> None:
    one, maker = opened
    one.open()
    page = one.page

    def gaps() -> Any:
        """How far from the middle of the map each graph is, in pixels."""
        box = page.locator(".surface").bounding_box()
        places = page.evaluate(f"Array.from({{length: {MOLECULES}}}, (_, i) => window.ugraphemb.place(i))")
        return np.hypot(*(np.array(places) - [box["width"] / 2, box["height"] / 2]).T)

    page.mouse.move(*one.place(40))
    page.mouse.wheel(0, -900)
    page.wait_for_function("() => /view=/.test(location.hash)")
    before = gaps()
    arrive(one, maker)
    page.wait_for_function("() => window.ugraphemb.isFinal()")
    assert gaps()[before.argmin()] < 2 * before.min() + 5
    assert not all(drawn_inside(one, position) for position in range(0, MOLECULES, 10))  # still near


def test_a_lasso_that_is_being_drawn_is_finished_on_the_map_it_began_on(opened: tuple[Visit, Maker]) -> None:
    one, maker = opened
    one.open()
    page = one.page
    box = page.locator(".surface").bounding_box()
    left, top, right, bottom = box["x"] + 4, box["y"] + 4, box["x"] + box["width"] - 4, box["y"] + box["height"] - 4
    page.keyboard.down("Shift")
    page.mouse.move(left, bottom)
    page.mouse.down()
    page.mouse.move(left, top, steps=3)
    page.mouse.move(right, top, steps=3)
    before = one.place(30)
    arrive(one, maker)
    assert one.place(30) == before
    page.mouse.move(right, bottom, steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.get_by_role("heading", name=f"{MOLECULES} graphs selected").wait_for()
    page.wait_for_function("() => window.ugraphemb.isFinal()")


def test_line_and_clusters_are_found_again_on_the_new_map(opened: tuple[Visit, Maker]) -> None:
    one, maker = opened
    one.open()
    page = one.page
    page.get_by_role("tab", name="Clusters").click()
    page.locator(".chips button").first.wait_for()
    page.get_by_role("tab", name="Line").click()
    page.get_by_role("button", name="Across the whole map").click()
    page.locator(".grid .cell").nth(11).wait_for()
    old = page.locator(".overlay .disc circle").count()
    with page.expect_response("**/api/line"), page.expect_response("**/api/clusters*"):
        arrive(one, maker)
    page.wait_for_function("() => window.ugraphemb.isFinal()")
    assert old
    page.locator(".grid .cell").nth(11).wait_for()
    assert page.get_by_role("tab", name="Line").get_attribute("aria-selected") == "true"
    one.until(lambda: page.locator(".overlay .badge.stop").count() == 12, "twelve stops on the new map")
    page.locator(".overlay .disc").first.wait_for()
