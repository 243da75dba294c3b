"""The rest of the page in a real browser: links, dark, keyboard only, a phone, a server that stops and starts again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from web.browsing import ATLAS, PATIENCE, Server, Visit, saved, server

import ugraphemb as ug

pytestmark = pytest.mark.browser
Open = Callable[..., Visit]


def test_a_link_shows_the_same_again(visit: Open) -> None:
    one = visit(rest="#color=kind")
    one.pin(30)
    one.ask("CCCCN")
    one.prove()
    one.page.get_by_role("button", name="aromatic").or_(one.page.get_by_role("button", name="chain")).first.click()
    one.prove()
    one.page.locator("button.match").nth(2).click()
    one.page.locator(".two .drawing").nth(1).wait_for()
    one.page.get_by_role("button", name="One step forward").click()
    one.page.mouse.move(500, 500)
    one.page.mouse.wheel(0, -400)
    parts = ("q=", "pins=", "hide=", "left=", "right=", "step=1", "view=")
    one.page.wait_for_function("parts => parts.every(part => location.hash.includes(part))", arg=parts)
    one.settle()
    pins, names = one.page.locator(".pin-name span").all_inner_texts(), None
    places = one.place(30)
    address = one.page.url

    other = visit(rest=address.removeprefix(one.address))
    other.page.locator(".two .drawing").nth(1).wait_for()
    other.settle()
    assert other.page.locator(".count").inner_text() == one.page.locator(".count").inner_text()
    assert other.page.locator(".pin-name span").all_inner_texts() == pins
    assert other.place(30) == pytest.approx(places, abs=1)
    assert other.page.locator(".groups [aria-pressed=false]").count() == 1
    for page in (one, other):
        page.page.get_by_role("tab", name="Search").click()
        page.prove()
        names = names or page.names()
        assert page.names() == names


def test_a_link_to_edits_stays_with_them_when_its_filter_arrives_late(visit: Open, browser: Any) -> None:
    one = visit(rest="#color=kind")
    one.ask("CCCCN")
    one.prove()
    one.page.get_by_role("button", name="chain").click()
    one.prove()
    one.page.locator("button.match").nth(2).click()
    one.page.locator(".two .drawing").nth(1).wait_for()
    parts = ("q=", "hide=", "left=", "right=", "panel=explain")
    one.page.wait_for_function("parts => parts.every(part => location.hash.includes(part))", arg=parts)
    other = Visit(browser, one.address)
    held: list[Any] = []
    other.page.route("**/api/column*", lambda route: held.append(route))
    other.open(one.page.url.removeprefix(one.address))
    other.page.locator(".two .drawing").nth(1).wait_for()
    other.until(lambda: bool(held), "a request for the column that colors and filters")
    with other.page.expect_request("**/api/search/stream") as again:
        for route in held:
            route.continue_()
    assert "where" in json.loads(again.value.post_data)  # the search begins again, with the filter
    assert other.page.get_by_role("tab", name="Explain").get_attribute("aria-selected") == "true"
    other.close()


def test_dark_follows_the_system_and_can_be_chosen(visit: Open) -> None:
    def background(page: Any) -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light, dark = visit(color_scheme="light"), visit(color_scheme="dark")
    assert background(light.page) != background(dark.page)
    light.page.get_by_role("button", name="Dark colors").click()
    light.until(lambda: background(light.page) == background(dark.page), "dark colors")
    assert light.page.evaluate("document.documentElement.dataset.theme") == "dark"
    light.until(lambda: "theme=dark" in light.page.url, "an address that follows")


def test_everything_goes_by_keyboard(visit: Open) -> None:
    from playwright.sync_api import expect

    one = visit()
    page, keys = one.page, one.page.keyboard
    box = page.get_by_role("textbox")
    keys.press("/")
    expect(box).to_be_focused(timeout=PATIENCE)
    keys.type("CCO")
    expect(box).to_have_value("CCO", timeout=PATIENCE)
    keys.press("Enter")
    one.prove()
    page.locator("button.match").nth(1).focus()
    keys.press("Enter")
    page.locator(".two .drawing").nth(1).wait_for()
    page.get_by_role("button", name="One step forward").focus()
    keys.press("ArrowRight")
    expect(page.locator(".count")).to_contain_text("1 /", timeout=PATIENCE)
    keys.press("g")
    expect(page.locator(".surface")).to_be_focused(timeout=PATIENCE)
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        keys.press(key)
    page.locator(".hover-card").wait_for()
    one.settle()
    first = page.locator(".hover-card strong").inner_text()
    keys.press("Enter")
    page.locator(".pin-card").wait_for()
    keys.press("ArrowLeft")
    keys.press("Enter")
    expect(page.locator(".pin-card")).to_have_count(2, timeout=PATIENCE)
    one.settle()
    assert first != page.locator(".pin-name span").nth(1).inner_text()
    keys.press("0")
    keys.press("v")
    page.get_by_role("heading", name="300 graphs selected").wait_for()
    keys.press("5")
    page.locator(".chips button").first.wait_for()
    keys.press("?")
    page.get_by_role("dialog", name="Help").wait_for()
    keys.press("Escape")
    page.locator(".help").wait_for(state="detached")
    keys.press("t")
    page.locator("html[data-theme=dark]").wait_for()


def test_what_can_be_reached_has_a_name(visit: Open) -> None:
    one = visit()
    one.pin(5)
    one.ask("CCO")
    one.prove()
    nameless = one.page.evaluate(
        """() => [...document.querySelectorAll("button, select, input:not([hidden]), textarea, [tabindex='0']")]
            .filter(element => !(element.getAttribute("aria-label") || element.innerText?.trim() ||
                                 element.labels?.length || element.getAttribute("title")))
            .map(element => element.outerHTML)"""
    )
    assert nameless == []
    one.until(lambda: one.page.locator("#announcement").inner_text() != "", "what a screen reader says")


def test_a_phone_shows_map_and_panel_without_scrolling_sideways(visit: Open) -> None:
    one = visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    one.ask("CCO")
    one.prove()
    assert one.page.evaluate("document.documentElement.scrollWidth") <= 390
    for name in ("Selection", "Explain", "Line", "Clusters"):
        one.page.get_by_role("tab", name=name).click()
        assert one.page.evaluate("document.documentElement.scrollWidth") <= 390
    one.page.touchscreen.tap(*one.place(15))
    one.page.locator(".pin-card").wait_for()


def test_the_page_survives_a_server_that_goes_and_comes_back(browser: Any) -> None:
    own = Server(saved("molecules"))
    one = Visit(browser, own.address).open()
    one.ask("CCO")
    one.prove()
    own.stop()
    one.ask("CCN")
    one.page.locator(".gone").wait_for()
    own.start()
    one.page.locator(".gone").wait_for(state="detached")
    one.page.get_by_text("CCN", exact=True).wait_for()  # what was asked meanwhile
    one.prove()
    one.close(allowed=("Failed to load resource", "net::ERR"))
    own.stop()


@pytest.mark.parametrize("by", ["button", "itself"])
def test_a_page_opened_before_its_server_opens_when_the_server_is_there(browser: Any, by: str) -> None:
    own = Server(saved("atlas"))
    one = Visit(browser, own.address)
    for part in ("info", "health"):
        one.page.route(f"**/api/{part}", lambda route: route.abort())
    one.page.goto(own.address)
    one.page.get_by_role("heading", name="The collection could not be opened").wait_for()
    one.page.unroute("**/api/info")
    if by == "button":  # the health check still fails, so that only the button can open it
        one.page.get_by_role("button", name="Try again").click()
    else:
        one.page.unroute("**/api/health")
    one.page.locator(".surface[data-drawn]").wait_for()
    one.close(allowed=("Failed to load resource",))
    own.stop()


def test_the_policy_allows_nothing_inline_and_nothing_from_elsewhere(visit: Open) -> None:
    one = visit()
    policy = one.page.evaluate("fetch('/').then(answer => answer.headers.get('content-security-policy'))")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy.replace("wasm-unsafe-eval", "")
    assert "http" not in policy
    assert server("molecules").address in one.requests


def test_an_empty_index_says_so_and_opens_when_graphs_are_there(browser: Any, tmp_path: Path) -> None:
    full = ug.GraphIndex.load(saved("atlas"), threads=1)
    folder = tmp_path / "atlas"
    ug.GraphIndex(full.model, threads=1).save(folder)
    own = Server(folder)
    one = Visit(browser, own.address)
    one.page.goto(own.address)
    one.page.get_by_role("heading", name="This index is empty").wait_for()
    ug.GraphIndex.load(folder, threads=1).add(full.graphs()[:20], progress=False).save()
    one.page.locator(".surface[data-drawn]").wait_for()
    assert "20" in one.page.locator("h1").inner_text()
    one.close()
    own.stop()


def test_edits_that_are_not_proven_are_shown_as_bounds_and_tried_longer(visit: Open) -> None:
    from playwright.sync_api import expect

    one = visit("atlas")
    budgets: list[float] = []

    def unproven(route: Any) -> None:
        budgets.append(json.loads(route.request.post_data)["budget"])
        answer = route.fetch()
        found = answer.json()
        if len(budgets) == 1:
            found.update(proven=False, lower=found["upper"] - 1, distance=None)
        route.fulfill(response=answer, json=found)

    one.page.route("**/api/edits", unproven)
    one.pin(3)
    one.pin(140)
    one.page.get_by_role("button", name="Explain A → B").click()
    verdict = one.page.locator(".explain .verdict")
    expect(verdict).to_contain_text("not proven", timeout=PATIENCE)
    expect(one.page.locator(".explain .certificate.open")).to_be_visible(timeout=PATIENCE)
    numbers = [int(text) for text in re.findall(r"\d+", verdict.locator("b").inner_text())]
    assert numbers[1] == numbers[0] + 1
    one.page.get_by_role("button", name="Try longer").click()
    expect(verdict).to_contain_text("proven exact", timeout=PATIENCE)
    assert budgets[1] > budgets[0]


def test_graphs_that_are_no_molecules_can_be_selected_exported_and_linked(visit: Open) -> None:
    one = visit("atlas")
    one.page.keyboard.press("g")
    one.page.keyboard.press("v")
    one.page.get_by_role("heading", name=f"{ATLAS} graphs selected").wait_for()
    assert one.page.get_by_role("button", name="SMILES", exact=True).count() == 0
    with one.page.expect_download() as waiting:
        one.page.get_by_role("button", name="JSON Lines", exact=True).click()
    lines = Path(waiting.value.path()).read_text("utf-8").strip().splitlines()
    assert len(lines) >= ATLAS
    assert {"num_nodes", "edges"} <= set(json.loads(lines[-1]))
    one.page.get_by_role("button", name="Clear the selection").click()
    one.page.get_by_role("tab", name="Search").click()
    one.ask(json.dumps({"num_nodes": 4, "edges": [[0, 1], [1, 2], [2, 3]]}))
    one.prove()
    names = one.names()
    one.page.wait_for_function("() => /q=graph/.test(location.hash)")
    other = visit("atlas", rest=one.page.url.removeprefix(one.address))
    other.prove()
    assert other.names() == names
    keys = other.page.keyboard
    keys.press("g")
    keys.press("ArrowRight")
    other.page.locator(".hover-card").wait_for()
    keys.press("Enter")
    other.page.locator(".pin-card").wait_for()


def test_class_and_distance_to_the_query_color_the_map(visit: Open) -> None:
    one = visit("atlas")
    assert one.page.locator(".groups button").all_inner_texts()  # the class is where it starts
    assert one.page.get_by_role("combobox", name="Color").input_value() == "class"
    by_class = one.page.locator(".surface canvas").screenshot()
    choice = one.page.locator("option[value=':distance']")
    assert choice.is_disabled()
    one.ask(json.dumps({"num_nodes": 3, "edges": [[0, 1], [1, 2], [0, 2]]}))
    one.prove()
    one.page.get_by_role("combobox", name="Color").select_option(":distance")
    one.page.locator(".scale .ramp").wait_for()
    one.until(lambda: one.page.locator(".surface canvas").screenshot() != by_class, "other colors")
