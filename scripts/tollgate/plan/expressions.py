"""JMeter's ${...} expressions, as far as they can be known before the run.

Known: __P, __property, __intSum, __longSum, plain arithmetic in __jexl2, __jexl3, __groovy and
__javaScript, and user defined variables. Anything else stays as it is written and carries a reason.
Source: JMeter's manual, "Functions and Variables".
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_OPERATORS: Mapping[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
}
_SCRIPTS = ("__jexl2", "__jexl3", "__groovy", "__javaScript")


def whole_sum(values: Sequence[str]) -> str:
    """Add whole numbers; a last argument that is none names the variable for the result.

    Empty where another one is no whole number.
    """
    try:
        numbers = [int(value) for value in values[:-1]]
        if re.fullmatch(r"\s*[+-]?\d+\s*", values[-1]):
            numbers.append(int(values[-1]))
    except ValueError:
        return ""
    return str(sum(numbers)) if numbers else ""


def arithmetic(script: str) -> str:
    """Evaluate + - * / % on literals; empty for anything else.

    Whole numbers divide only where nothing remains: JEXL and Groovy disagree on the rest.
    """
    try:
        result = _evaluate(ast.parse(script.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
        return ""
    return str(result)


def _evaluate(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate(node.operand)
    if isinstance(node, ast.BinOp):
        left, right = _evaluate(node.left), _evaluate(node.right)
        if isinstance(node.op, ast.Div):
            if isinstance(left, int) and isinstance(right, int):
                if left % right:
                    raise ValueError("a division with a remainder")
                return left // right
            return left / right
        if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](left, right)
    raise ValueError("more than arithmetic")


@dataclass(frozen=True)
class Unknown:
    """A part that only the running test can fill in: its source text, and why."""

    source: str
    reason: str


@dataclass(frozen=True)
class ExpandedText:
    """A text after expansion: pieces known now, and pieces that are not."""

    parts: tuple[str | Unknown, ...]

    @property
    def value(self) -> str | None:
        """The whole text, or None where a part of it is unknown."""
        if self.reason:
            return None
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def reason(self) -> str:
        """Why the text is unknown; empty where it is known."""
        return next((part.reason for part in self.parts if isinstance(part, Unknown)), "")

    @property
    def shown(self) -> str:
        """The text with its unknown parts as they are written in the plan."""
        return "".join(part if isinstance(part, str) else part.source for part in self.parts)

    @property
    def pattern(self) -> str:
        """A regular expression for the whole text: an unknown part may be anything."""
        return "".join(re.escape(p) if isinstance(p, str) else "(?s:.*)" for p in self.parts)


class Expander:
    """Expands texts with the properties of a run and the variables of a plan."""

    def __init__(
        self, properties: Mapping[str, str], variables: Mapping[str, ExpandedText]
    ) -> None:
        self._properties = properties
        self._variables = variables

    def expand(self, text: str) -> ExpandedText:
        """Return `text` with everything filled in that is known before the run."""
        if "${" not in text:
            return ExpandedText((text,))
        parts, _ = self._parts(text, 0, stops="")
        return _joined(parts)

    def _parts(self, text: str, at: int, stops: str) -> tuple[list[str | Unknown], int]:
        """Read pieces from `at` to the first of `stops` outside a nested expression."""
        parts: list[str | Unknown] = []
        depth = 0
        while at < len(text):
            char = text[at]
            if char == "\\" and text[at + 1 : at + 2] in ("$", ",", "\\"):
                parts.append(text[at + 1])
                at += 2
            elif text.startswith("${", at):
                part, at = self._reference(text, at)
                parts += part.parts
            elif char in stops and (char != ")" or depth == 0):
                break
            else:
                depth += {"(": 1, ")": -1}.get(char, 0)
                parts.append(char)
                at += 1
        return parts, at

    def _reference(self, text: str, start: int) -> tuple[ExpandedText, int]:
        """Expand the ${...} that begins at `start`; an unclosed one is plain text to JMeter."""
        name = re.compile(r"\$\{([^(){},$\\]+)").match(text, start)
        if name and text.startswith("(", name.end()):
            arguments, at = self._arguments(text, name.end() + 1)
            if text.startswith("}", at):
                source = text[start : at + 1]
                return self._call(name[1].strip(), arguments, source), at + 1
        elif name and text.startswith("}", name.end()):
            return self._named(name[1], text[start : name.end() + 1]), name.end() + 1
        return ExpandedText(("${",)), start + 2

    def _arguments(self, text: str, at: int) -> tuple[list[ExpandedText], int]:
        arguments: list[ExpandedText] = []
        while True:
            parts, at = self._parts(text, at, stops=",)")
            arguments.append(_joined(parts))
            at += 1
            if at > len(text) or text[at - 1] == ")":
                return arguments, at

    def _named(self, name: str, source: str) -> ExpandedText:
        if name.startswith("__"):
            return self._call(name, [], source)
        if name in self._variables:
            return self._variables[name]
        return _unknown(source, f"{source} is no user defined variable, so it is set at run time")

    def _call(self, name: str, arguments: Sequence[ExpandedText], source: str) -> ExpandedText:
        if name not in ("__P", "__property", "__intSum", "__longSum", *_SCRIPTS):
            return _unknown(source, f"{source} is not evaluated before the run")
        values = [argument.value for argument in arguments]
        if name in ("__P", "__property"):
            return self._property(name, arguments, source)
        if None in values:
            return _unknown(source, next(a.reason for a in arguments if a.reason))
        known = [value for value in values if value is not None]
        result = whole_sum(known) if name in ("__intSum", "__longSum") else arithmetic(known[0])
        return (
            ExpandedText((result,))
            if result
            else _unknown(source, f"{source} is more than arithmetic")
        )

    def _property(self, name: str, arguments: Sequence[ExpandedText], source: str) -> ExpandedText:
        key = arguments[0].value if arguments else None
        if not key:
            return _unknown(source, f"{source} names no property that is known before the run")
        if key in self._properties:
            return ExpandedText((str(self._properties[key]),))
        default = arguments[1:2] if name == "__P" else arguments[2:3]
        if default:
            return default[0]
        # JMeter's own defaults: "1" for __P, the property's name for __property.
        return ExpandedText(("1" if name == "__P" else key,))


def _joined(parts: Sequence[str | Unknown]) -> ExpandedText:
    """Join neighbouring known pieces."""
    joined: list[str | Unknown] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return ExpandedText(tuple(joined))


def _unknown(source: str, reason: str) -> ExpandedText:
    return ExpandedText((Unknown(source, reason),))
