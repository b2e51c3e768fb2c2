"""Properties of one element of a plan as text and numbers, with a reason where they are unknown."""

from __future__ import annotations

from collections.abc import Callable

from tollgate.plan.expressions import Expander
from tollgate.plan.jmx import Element


class Fields:
    """Reads properties of one element and remembers, by name, why some are not known."""

    def __init__(self, element: Element, expander: Expander) -> None:
        self._element = element
        self._expander = expander
        self.unresolved: dict[str, str] = {}

    def text(self, name: str) -> str | None:
        """The property after expansion; None where it is absent or not known."""
        if name not in self._element.props:
            return None
        expanded = self._expander.expand(self._element.props[name])
        if expanded.reason:
            self.unresolved[name.rpartition(".")[2]] = expanded.reason
        return expanded.value

    def number(self, name: str, absent: float | None = None) -> float | None:
        return self._converted(name, absent, float)

    def whole(self, name: str, absent: int | None = None) -> int | None:
        return self._converted(name, absent, int)

    def _converted(
        self, name: str, absent: float | None, convert: Callable[[str], float]
    ) -> float | None:
        text = self.text(name)
        if text is None:
            return None if name in self._element.props else absent
        try:
            return convert(text.strip() or absent or 0)
        except ValueError:
            self.unresolved[name.rpartition(".")[2]] = f"'{text}' is not a number"
            return None
