"""Search and edits in a real browser: typed, drawn, from a file; proven as one watches; explained step by step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from web.browsing import PATIENCE, Visit

pytestmark = pytest.mark.browser
Open = Callable[..., Visit]
ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
REFUSED = ("status of 422", "status of 404")  # browsers log every refused request
TRIANGLE = {"num_nodes": 3, "edges": [[0, 1], [1, 2], [0, 2]]}


def watch(one: Visit) -> None:
    """Notes every verdict that is shown from now on."""
    one.page.evaluate(
        """() => {
            window.verdicts = [];
            const note = () => {
                const text = document.querySelector(".verdict")?.innerText;
                if (text && window.verdicts.at(-1) !== text) window.verdicts.push(text);
            };
            new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true });
        }"""
    )


def test_smiles_are_found_by_vectors_and_then_proven(visit: Open) -> None:
    one = visit()
    watch(one)
    one.ask(ASPIRIN)
    verdict = one.prove()
    assert "Proven: the 10 nearest of 300 graphs" in verdict.replace("\n", " ")
    verdicts = one.page.evaluate("window.verdicts")
    assert any("By vectors" in text for text in verdicts), verdicts
    distances = one.page.locator(".bounds-bar.proven .bounds-text").all_inner_texts()
    assert len(distances) == 10
    assert all("edit" in text for text in distances)
    bounds = one.page.locator("ul.bounds").inner_text()
    assert "found 10" in bounds.replace("\n", " ")
    assert one.page.locator(".overlay .badge.match").count() == 10
    assert one.page.locator(".overlay .star").count() == 1


def test_the_proven_order_is_that_of_normalized_distances(visit: Open) -> None:
    one = visit()
    one.ask("CCCCO")
    one.prove()
    found = one.page.evaluate(
        "query => fetch('/api/search', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: query})"
        ".then(answer => answer.json())",
        json.dumps({"query": {"smiles": "CCCCO"}, "mode": "complete", "k": 10, "budget": 10}),
    )
    normalized = [match["normalized"] for match in found["matches"]]
    assert normalized == sorted(normalized)
    assert one.names() == [match["id"] for match in found["matches"]]


def test_within_finds_all_that_near_or_says_that_there_are_none(visit: Open) -> None:
    one = visit(rest="#mode=within&within=2")
    one.ask("CCO")
    assert "all within 2 edits" in one.prove()
    one.page.locator("input.small").fill("0")
    one.page.locator("input.small").press("Tab")
    one.page.get_by_text("Nothing is that near.").wait_for()


def test_a_wrong_smiles_is_said_to_be_wrong_and_the_next_one_works(visit: Open) -> None:
    one = visit(allowed=REFUSED)
    one.ask("C1CC(")
    alert = one.page.locator("#query-problem")
    alert.wait_for()
    assert alert.inner_text() == "'C1CC(' is not valid SMILES"
    assert one.page.get_by_role("textbox").get_attribute("aria-invalid") == "true"
    one.ask("C1CC1")
    one.prove()
    assert not alert.is_visible()


def test_a_drawn_molecule_is_searched_for(visit: Open) -> None:
    one = visit()
    assert not any("openchemlib" in url for url in one.requests)  # loaded only when asked for
    one.page.get_by_role("button", name="Draw", exact=True).click()
    canvas = one.page.locator(".molecule-editor canvas").last
    canvas.wait_for()
    box = one.page.locator(".molecule-editor").bounding_box()
    one.page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"])  # a bond with two carbons
    one.page.get_by_role("button", name="Search this").click()
    one.prove()
    assert one.page.get_by_role("textbox").first.input_value() == "CC"
    assert any("openchemlib" in url for url in one.requests)


def test_a_drawn_graph_is_searched_for_and_found(visit: Open) -> None:
    one = visit("atlas")
    one.page.get_by_role("button", name="Draw", exact=True).click()
    surface = one.page.locator(".graph-editor")
    box = surface.bounding_box()
    corners = [
        (box["x"] + fx * box["width"], box["y"] + fy * box["height"])
        for fx, fy in [(0.3, 0.7), (0.7, 0.7), (0.5, 0.25)]
    ]
    for corner in corners:
        one.page.mouse.click(*corner)
    for start, end in [(0, 1), (1, 2), (2, 0)]:
        one.page.mouse.move(*corners[start])
        one.page.mouse.down()
        one.page.mouse.move(*corners[end], steps=4)
        one.page.mouse.up()
    one.until(lambda: "3 nodes and 3 edges" in (surface.get_attribute("aria-label") or ""), "a triangle")
    one.page.get_by_role("button", name="Search this").click()
    one.prove()
    assert one.page.locator(".bounds-text").first.inner_text() == "0 edits"  # the set holds a triangle


def test_a_file_with_several_molecules_lets_one_choose(visit: Open, tmp_path: Path) -> None:
    one = visit()
    several = tmp_path / "three.smi"
    several.write_text("CCO ethanol\nCCCCCC hexane\nc1ccccc1O phenol\n")
    one.page.locator("input[type=file]").set_input_files(several)
    one.page.locator(".choices .cell").nth(2).wait_for()
    one.page.locator(".choices .cell").nth(1).click()
    one.prove()
    assert one.page.get_by_role("textbox").first.input_value() == "CCCCCC"


def test_a_dropped_file_and_pasted_json_ask_the_same(visit: Open) -> None:
    one = visit("atlas")
    one.page.evaluate(
        """text => {
            const data = new DataTransfer();
            data.items.add(new File([text], "triangle.json"));
            window.dispatchEvent(new DragEvent("drop", { dataTransfer: data }));
        }""",
        json.dumps(TRIANGLE),
    )
    one.prove()
    dropped = one.names()
    one.page.get_by_role("button", name="Clear the search").click()
    one.page.locator(".results").wait_for(state="detached")
    one.ask(json.dumps(TRIANGLE))
    one.prove()
    assert one.names() == dropped
    assert one.page.locator(".bounds-text").first.inner_text() == "0 edits"


@pytest.mark.parametrize("kind", ["molecules", "atlas"])
def test_the_edit_path_plays_forwards_and_backwards(visit: Open, kind: str) -> None:
    from playwright.sync_api import expect

    one = visit(kind)
    page = one.page
    one.ask("CCO") if kind == "molecules" else one.ask(json.dumps({"num_nodes": 5, "edges": [[0, 1], [1, 2], [3, 4]]}))
    one.prove()
    page.locator("button.match").nth(4).click()
    page.locator(".two .drawing").nth(1).wait_for()
    assert "proven exact" in page.locator(".verdict").inner_text()
    edits = int(page.locator(".verdict b").inner_text().split()[0])
    assert page.locator(".step").count() == edits > 0  # every edit costs 1
    assert page.locator(".mark-legend li").count() >= 1
    seen = {page.locator(".stage .drawing").inner_html()}
    for step in range(1, edits + 1):
        page.get_by_role("button", name="One step forward").click()
        expect(page.locator(".count")).to_have_text(f"{step} / {edits}", timeout=PATIENCE)
        seen.add(page.locator(".stage .drawing").inner_html())
    expect(page.locator(".count")).to_have_text(f"{edits} / {edits}", timeout=PATIENCE)
    assert len(seen) == edits + 1  # every step is another picture
    page.get_by_role("button", name="One step back").click()
    expect(page.locator(".count")).to_have_text(f"{edits - 1} / {edits}", timeout=PATIENCE)
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".count")).to_have_text(f"{edits} / {edits}", timeout=PATIENCE)
    page.get_by_role("button", name="Play").wait_for()


def test_two_pins_are_explained(visit: Open) -> None:
    one = visit()
    one.pin(20)
    one.pin(90)
    one.page.get_by_role("button", name="Explain A → B").click()
    one.page.locator(".two .drawing").nth(1).wait_for()
    one.settle()
    name = one.page.locator(".pin-name span").first.inner_text()
    one.until(lambda: one.page.locator(".pair span").first.inner_text() == name, "the name of A above the edits")
