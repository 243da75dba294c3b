"""What the tests of the page share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from web.browsing import browsing

    with browsing() as found:
        yield found


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens the page of a collection ("molecules" or "atlas"); closing it checks that it did not complain."""
    from web.browsing import Visit, server

    opened: list[tuple[Any, tuple[str, ...]]] = []

    def visitor(kind: str = "molecules", rest: str = "", *, allowed: tuple[str, ...] = (), **options: Any) -> Visit:
        one = Visit(browser, server(kind).address, **options)
        opened.append((one, allowed))
        return one.open(rest)

    yield visitor
    for one, allowed in opened:
        one.close(allowed=allowed)
