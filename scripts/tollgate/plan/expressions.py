"""JMeter's ${...} expressions, as far as they can be known before the run.

Known: __P, __property, __char, __intSum, __longSum, plain arithmetic in __jexl2, __jexl3, __groovy
and __javaScript, and user defined variables. Anything else stays as it is written and carries a
reason.
Source: JMeter's manual, "Functions and Variables".
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

#: A value that a property alone says.
PROPERTY = re.compile(r"\$\{__P\(\s*([\w.-]+)\s*(?:,.*)?\)\}", re.S)
#: Characters of a text that is expanded, before and after, and how deep calls stand in calls.
_LONGEST, _DEEPEST = 100_000, 8
#: Characters that mean themselves wherever they stand.
_PLAIN = re.compile(r"[^\\$(),]+")

_OPERATORS: Mapping[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
}


def reads_property(text: str, name: str) -> bool:
    """Whether an expression in a text asks for a property."""
    return re.search(rf"__(?:P|property)\(\s*{re.escape(name)}\s*[,)]", text) is not None


def evaluates(text: str) -> bool:
    """Whether JMeter evaluates a part of a text: elsewhere it leaves backslashes as they are.

    Source: JMeter 5.6.3, FunctionParser and CompoundVariable.hasFunction."""
    return re.match(r"(?:\\.|[^\\])*?\$\{", text, re.DOTALL) is not None


def characters(values: Sequence[str]) -> str:
    """Those with these numbers, decimal or as 0x24."""
    try:
        return "".join(chr(int(it, 0)) for it in values)
    except (ValueError, OverflowError):
        return ""


def whole_sum(values: Sequence[str]) -> str:
    """Add whole numbers; a last argument that is none names the variable for the result.

    Empty where another one is no whole number.
    """
    *numbers, last = values
    if re.fullmatch(r"\s*[+-]?\d+\s*", last):
        numbers.append(last)
    try:
        return str(sum(map(int, numbers))) if numbers else ""
    except ValueError:
        return ""


def arithmetic(arguments: Sequence[str]) -> str:
    """Evaluate + - * / % on literals in the first argument; empty for anything else.

    Whole numbers divide only where nothing remains: JEXL and Groovy disagree on the rest.
    """
    try:
        return str(_evaluate(ast.parse(arguments[0].strip()[:_LONGEST], mode="eval").body))
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return ""


def _evaluate(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return cast(float, node.value)
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


#: What else is known of functions with known arguments.
_FUNCTIONS = {
    **dict.fromkeys(("__intSum", "__longSum"), whole_sum),
    "__char": characters,
    **dict.fromkeys(("__jexl2", "__jexl3", "__groovy", "__javaScript"), arithmetic),
}


@dataclass(frozen=True)
class ExpandedText:
    """A text after expansion.

    shown: with the parts that only the running test can fill in as they are written in the plan.
    pattern: a regular expression for the whole text, in which such a part may be anything. reason:
    why one is unknown; empty where the text is known.
    """

    shown: str
    pattern: str
    reason: str = ""

    @property
    def value(self) -> str | None:
        """The whole text, or None where a part of it is unknown."""
        return None if self.reason else self.shown


def known(text: str) -> ExpandedText:
    return ExpandedText(text, re.escape(text))


def unknown(source: str, reason: str) -> ExpandedText:
    return ExpandedText(source, "(?s:.*)", reason)


class _TooLongError(Exception):
    """What variables make of a text is longer than _LONGEST, or takes more steps."""


class Expander:
    """Expands texts with the properties of a run and the variables of a plan."""

    def __init__(
        self, properties: Mapping[str, str], variables: Mapping[str, ExpandedText]
    ) -> None:
        self._properties = properties
        self._variables = variables
        self._depth = self._steps = 0

    def expand(self, text: str) -> ExpandedText:
        """Return `text` with everything filled in that is known before the run."""
        if not evaluates(text):
            return known(text)
        self._depth = self._steps = 0
        try:
            if len(text) <= _LONGEST:
                return self._until(text, 0, stops="")[0]
        except _TooLongError:
            pass
        return unknown(text, f"{text[:60]!r}... is too long to be expanded before the run")

    def number(self, text: str) -> float | None:
        """The number that a text is after expansion; None where it is none, or not known."""
        try:
            return float(self.expand(text).value or "")
        except ValueError:
            return None

    def _until(self, text: str, at: int, stops: str) -> tuple[ExpandedText, int]:
        """Expand from `at` to the first of `stops` outside a nested expression."""
        parts: list[ExpandedText] = []
        depth = length = 0
        while at < len(text):
            char = text[at]
            if char == "\\" and text[at + 1 : at + 2] in ("$", ",", "\\"):
                parts.append(known(text[at + 1]))
                at += 2
            elif text.startswith("${", at):
                part, at = self._reference(text, at)
                parts.append(part)
                length += len(part.shown)
                if length > _LONGEST:
                    raise _TooLongError
            elif plain := _PLAIN.match(text, at):
                parts.append(known(plain[0]))
                at = plain.end()
            elif char in stops and (char != ")" or depth == 0):
                break
            else:
                depth += {"(": 1, ")": -1}.get(char, 0)
                parts.append(known(char))
                at += 1
        shown, pattern = ("".join(getattr(it, n) for it in parts) for n in ("shown", "pattern"))
        return ExpandedText(shown, pattern, _first_reason(parts)), at

    def _reference(self, text: str, start: int) -> tuple[ExpandedText, int]:
        """Expand the ${...} that begins at `start`; an unclosed one is plain text to JMeter."""
        self._steps += 1
        if self._steps > _LONGEST:  # a call that is not closed is read again from behind its name
            raise _TooLongError
        name = re.compile(r"\$\{([^(){},$\\]+)").match(text, start)
        if name and text.startswith("(", name.end()) and self._depth < _DEEPEST:
            self._depth += 1
            arguments, at = self._arguments(text, name.end() + 1)
            self._depth -= 1
            if text.startswith("}", at):
                source = text[start : at + 1]
                return self._call(name[1].strip(), arguments, source), at + 1
        elif name and text.startswith("}", name.end()):
            return self._named(name[1], text[start : name.end() + 1]), name.end() + 1
        return known("${"), start + 2

    def _arguments(self, text: str, at: int) -> tuple[list[ExpandedText], int]:
        arguments: list[ExpandedText] = []
        while True:
            argument, at = self._until(text, at, stops=",)")
            arguments.append(argument)
            at += 1
            if at > len(text) or text[at - 1] == ")":
                return arguments, at

    def _named(self, name: str, source: str) -> ExpandedText:
        if name.startswith("__"):
            return self._call(name, [], source)
        if name in self._variables:
            return self._variables[name]
        return unknown(source, f"{source} is no user defined variable, so it is set at run time")

    def _call(self, name: str, arguments: Sequence[ExpandedText], source: str) -> ExpandedText:
        if name in ("__P", "__property"):
            return self._property(name, arguments, source)
        if name not in _FUNCTIONS or not arguments:
            return unknown(source, f"{source} is not evaluated before the run")
        if reason := _first_reason(arguments):
            return unknown(source, reason)
        result = _FUNCTIONS[name]([argument.shown for argument in arguments])
        return known(result) if result else unknown(source, f"{source} is more than arithmetic")

    def _property(self, name: str, arguments: Sequence[ExpandedText], source: str) -> ExpandedText:
        key = arguments[0].value if arguments else None
        if not key:
            return unknown(source, f"{source} names no property that is known before the run")
        if key in self._properties:
            return known(str(self._properties[key]))
        default = arguments[1:2] if name == "__P" else arguments[2:3]
        if default:
            return default[0]
        # JMeter's own defaults: "1" for __P, the property's name for __property.
        return known("1" if name == "__P" else key)


def _first_reason(parts: Sequence[ExpandedText]) -> str:
    return next((part.reason for part in parts if part.reason), "")
