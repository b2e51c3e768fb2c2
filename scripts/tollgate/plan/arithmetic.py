"""Plain arithmetic in JMeter's functions: sums of whole numbers, and + - * / % on literals."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence

_OPERATORS: Mapping[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
}


def whole_sum(values: Sequence[str]) -> str:
    """Add whole numbers; a last argument that is none names the variable for the result.

    Empty where another one is no whole number.
    """
    try:
        numbers = [int(value) for value in values[:-1]]
        with_last = [*numbers, int(values[-1])] if _is_int(values[-1]) else numbers
    except ValueError:
        return ""
    return str(sum(with_last)) if with_last else ""


def _is_int(text: str) -> bool:
    return re.fullmatch(r"\s*[+-]?\d+\s*", text) is not None


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
