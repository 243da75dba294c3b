"""Every error that a client sees: {"error": {"code", "message", "where"}}."""

from __future__ import annotations

from typing import Literal

Code = Literal[
    "invalid", "bad_graph", "not_found", "changed", "too_large", "busy", "unauthorized", "read_only", "cross_site",
    "bad_host", "method", "slow", "internal",
]  # fmt: skip

STATUS: dict[Code, int] = {
    "invalid": 422, "bad_graph": 422, "not_found": 404, "changed": 409, "too_large": 413, "busy": 429,
    "unauthorized": 401, "read_only": 403, "cross_site": 403, "bad_host": 421, "method": 405, "slow": 408,
    "internal": 500,
}  # fmt: skip


class RefusalError(Exception):
    """A request that gets a 4xx.

    Attributes:
        code: What programs look at.
        message: One sentence for people.
        where: The field of the request that is wrong, if it is one.
    """

    def __init__(self, code: Code, message: str, where: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.where = code, message, where

    @property
    def status(self) -> int:
        return STATUS[self.code]

    def content(self) -> dict[str, dict[str, str | None]]:
        return content(self.code, self.message, self.where)


def content(code: Code, message: str, where: str | None = None) -> dict[str, dict[str, str | None]]:
    """The body of an error."""
    return {"error": {"code": code, "message": message, "where": where}}
