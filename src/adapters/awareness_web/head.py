"""The headers of one request, by name. Knows what is sent, not what it means."""

from __future__ import annotations

from collections.abc import Iterable

import attrs


@attrs.frozen
class Head:
    """ASGI's headers, whose names are in lower case."""

    headers: tuple[tuple[bytes, bytes], ...]

    def all(self, name: bytes) -> list[bytes]:
        """Every value of that header, in the order sent."""
        return [value for found, value in self.headers if found == name]

    def one(self, name: bytes) -> bytes | None:
        """The only value of that header; None when it is absent or repeated."""
        found = self.all(name)
        return found[0] if len(found) == 1 else None

    @property
    def size(self) -> int:
        """Names and values together, in bytes."""
        return sum(len(name) + len(value) for name, value in self.headers)


def head_of(headers: Iterable[tuple[bytes, bytes]]) -> Head:
    """The head of a request."""
    return Head(tuple(headers))
