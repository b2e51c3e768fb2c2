"""Columns of equal length that are sorted together, for counts."""

from __future__ import annotations

import numpy as np


def sorted_codes(code: np.ndarray, codes: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    """The same codes in sorted order and without those that no row has."""
    if len(code) and not 0 <= code.min() <= code.max() < len(codes):
        raise ValueError(f"a code index is outside of the {len(codes)} codes")
    used = sorted({codes[index] for index in np.unique(code)})
    moved = [used.index(name) if name in used else -1 for name in codes]
    return np.array(moved, np.int32)[code], tuple(used)


def order_of(columns: list[np.ndarray]) -> np.ndarray:
    """The order that sorts the columns, the first one foremost."""
    return np.lexsort(columns[::-1])


def first_of_each(columns: list[np.ndarray]) -> np.ndarray:
    """True where a row of sorted columns differs from the row before it."""
    first = np.ones(len(columns[0]), bool)
    if len(first):
        first[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return first
