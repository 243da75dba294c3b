"""The map in a real browser: it draws, answers the pointer, selects, exports, and can be left to the keyboard."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from web.browsing import ATLAS, MOLECULES, Visit, server

from ugraphemb.web.tables import ARROW, arrow_bytes

pytestmark = pytest.mark.browser
Open = Callable[..., Visit]
SIZES = {"molecules": MOLECULES, "atlas": ATLAS}


def colors_of(picture: bytes) -> int:
    from PIL import Image

    return len(Image.open(io.BytesIO(picture)).convert("RGB").getcolors(1 << 24))


def around_everything(page: Any) -> None:
    """A lasso around the whole map, by Shift and the mouse."""
    box = page.locator(".surface").bounding_box()
    left, top, right, bottom = box["x"] + 4, box["y"] + 4, box["x"] + box["width"] - 4, box["y"] + box["height"] - 4
    page.keyboard.down("Shift")
    page.mouse.move(left, bottom)
    page.mouse.down()
    for x, y in [(left, (top + bottom) / 2), (left + 60, top), (right, top), (right, bottom), (left, bottom)]:
        page.mouse.move(x, y, steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")


@pytest.mark.parametrize("kind", ["molecules", "atlas"])
def test_the_map_draws_every_graph_and_hovering_shows_one(visit: Open, kind: str) -> None:
    one = visit(kind)
    assert f"{SIZES[kind]}" in one.page.locator("h1").inner_text()
    assert colors_of(one.page.locator(".surface canvas").screenshot()) > 20
    one.page.mouse.move(*one.place(7))
    card = one.page.locator(".hover-card")
    card.wait_for()
    one.page.locator(".hover-card .thumb.ready").wait_for()
    assert "nodes" in card.inner_text()


def test_a_click_pins_and_the_pin_can_be_searched_for(visit: Open) -> None:
    one = visit()
    one.pin(12)
    one.page.locator(".pin-card .thumb.ready").wait_for()
    one.settle()
    name = one.page.locator(".pin-name span").inner_text()
    one.page.get_by_role("button", name=f"Search for graphs like {name}").click()
    one.prove()
    assert one.names()[0] == name  # nothing is nearer to a graph than itself
    one.page.get_by_role("button", name=f"Unpin {name}").first.click()
    one.page.locator(".pin-card").wait_for(state="detached")


def test_a_lasso_gives_a_table_that_sorts_and_exports(visit: Open) -> None:
    one = visit()
    page = one.page

    def sizes() -> list[int]:
        return [int(text) for text in page.locator("tbody td.number:nth-child(3)").all_inner_texts()]

    around_everything(page)
    page.get_by_role("heading", name=f"{MOLECULES} graphs selected").wait_for()
    one.until(lambda: len(sizes()) == 50, "the first 50 rows")
    page.get_by_role("button", name="nodes", exact=True).click()
    one.until(lambda: sizes() == sorted(sizes()), "the smallest first")
    smallest = sizes()[0]
    page.get_by_role("button", name="nodes", exact=True).click()
    one.until(lambda: sizes() == sorted(sizes(), reverse=True), "the largest first")
    assert sizes()[0] > smallest
    texts = {}
    for name in ("CSV", "SMILES", "JSON Lines"):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name, exact=True).click()
        texts[name] = Path(waiting.value.path()).read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO(texts["CSV"])))
    assert len(rows) == MOLECULES
    assert {"id", "kind", "rings"} <= set(rows[0])
    assert len(texts["SMILES"].strip().splitlines()) >= MOLECULES
    assert len([json.loads(line) for line in texts["JSON Lines"].strip().splitlines()]) >= MOLECULES


def test_the_legend_filters_the_map_and_the_search(visit: Open) -> None:
    one = visit(rest="#color=kind")
    one.page.get_by_role("button", name="chain").click()
    around_everything(one.page)
    one.page.locator(".selection h2").wait_for()
    shown = int(one.page.locator(".selection h2").inner_text().split()[0])
    assert 0 < shown < MOLECULES
    one.page.get_by_role("tab", name="Search").click()
    one.ask("CCO")
    one.prove()
    assert f"of {shown} graphs" in one.page.locator(".verdict").inner_text()


@pytest.mark.parametrize("by", [":size", ":density", ":crowding", "rings"])
def test_numbers_color_the_map_on_a_scale(visit: Open, by: str) -> None:
    one = visit()
    page, canvas, color = one.page, one.page.locator(".surface canvas"), one.page.get_by_role("combobox", name="Color")
    assert color.input_value() == ":size"  # where it starts
    for choice in (by,) if by != ":size" else ("rings", by):
        before = canvas.screenshot()
        color.select_option(choice)
        page.locator(".scale .ramp").wait_for()
        one.until(lambda before=before: canvas.screenshot() != before, f"colors by {choice}")  # type: ignore[misc]


def test_the_wheel_zooms_and_the_whole_map_comes_back(visit: Open) -> None:
    one = visit()
    start = one.place(3)
    one.page.mouse.move(700, 400)
    one.page.mouse.wheel(0, -600)
    one.until(lambda: one.place(3) != start, "a nearer map")
    one.page.get_by_role("button", name="Show the whole map").click()
    one.until(lambda: one.place(3) == pytest.approx(start, abs=1), "the whole map")
    one.until(lambda: one.page.evaluate("window.ugraphemb.drawn.points") == MOLECULES, "every point")


def test_a_large_map_shows_a_sample_while_it_moves_and_every_point_when_it_stands(browser: Any) -> None:
    many = 60_000
    places = np.random.default_rng(0).normal(size=(many, 2)).astype(np.float32)
    table = {"x": places[:, 0], "y": places[:, 1], "nodes": np.full(many, 3, np.int32)}
    one = Visit(browser, server("molecules").address)
    data = arrow_bytes({name: pa.array(column) for name, column in table.items()}, {})
    one.page.route("**/api/map*", lambda route: route.fulfill(body=data, content_type=ARROW))
    one.open()

    def drawn() -> int:
        return int(one.page.evaluate("window.ugraphemb.drawn.points"))

    one.until(lambda: drawn() == many, "every point")
    moving = one.page.evaluate(
        """async () => {
            const surface = document.querySelector(".surface");
            surface.dispatchEvent(new WheelEvent("wheel", {deltaY: -50, clientX: 400, clientY: 400}));
            await new Promise(requestAnimationFrame);
            return window.ugraphemb.drawn.points;
        }"""
    )
    assert 5_000 <= moving < many
    one.until(lambda: drawn() == many, "every point again")
    one.close(allowed=("status of 404",))  # the server has no drawings of graphs that are only on this map


def test_clusters_show_twelve_members_and_save_as_a_picture(visit: Open) -> None:
    page = visit().page
    page.get_by_role("tab", name="Clusters").click()
    page.locator(".chips button").first.click()
    page.locator(".grid .thumb.ready").nth(5).wait_for()
    assert 1 < page.locator(".grid .cell").count() <= 12
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        page.get_by_role("button", name="Save this picture").click()
        with page.expect_download() as waiting:
            page.get_by_role("button", name=kind, exact=True).click()
        assert Path(waiting.value.path()).read_bytes().startswith(start)


@pytest.mark.parametrize("kind", ["molecules", "atlas"])
def test_a_line_between_two_points_shows_twelve_graphs(visit: Open, kind: str) -> None:
    one = visit(kind)
    one.page.get_by_role("tab", name="Line").click()
    one.page.get_by_role("button", name="Across the whole map").click()
    one.page.locator(".grid .thumb.ready").nth(11).wait_for()
    assert one.page.locator(".grid .cell").count() == 12
    one.until(lambda: one.page.locator(".overlay .badge.stop").count() == 12, "twelve stops on the map")


def test_the_map_saves_as_svg_and_png(visit: Open) -> None:
    page = visit().page
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        page.get_by_role("button", name="Save the map").click()
        with page.expect_download() as waiting:
            page.get_by_role("button", name=kind, exact=True).click()
        saved = Path(waiting.value.path()).read_bytes()
        assert saved.startswith(start)
        assert kind == "PNG" or saved.count(b"<circle") >= MOLECULES * 0.9
