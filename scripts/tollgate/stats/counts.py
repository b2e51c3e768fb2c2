"""Exact counts of samples per bin of time: the value type that the pure rooms hand to one another.

JMeter writes `elapsed` as whole milliseconds, so counts per (bin, elapsed, ok, code) hold all there
is to know about a label's samples except their order within a bin, and they merge without loss.
Service time and response time use the same type. A bin is a second, in a run of many hours several
(bins.py); values of the whole run are as exact as ever.
"""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tollgate.stats.arrays import Flags, Floats, Ints
from tollgate.stats.response_codes import short_code


def sorted_codes(code: np.ndarray, codes: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    """The same codes in sorted order and without those that no row has."""
    if len(code) and not 0 <= code.min() <= code.max() < len(codes):
        raise ValueError(f"a code index is outside of the {len(codes)} codes")
    used = sorted({codes[index] for index in np.flatnonzero(np.bincount(code))})
    # A service may answer each request with a code of its own.
    place = {name: index for index, name in enumerate(used)}
    moved = [place.get(name, -1) for name in codes]
    return np.array(moved, np.int32)[code], tuple(used)


def first_of_each(columns: list[np.ndarray]) -> Flags:
    """True where a row of sorted columns differs from the row before it."""
    first = np.ones(len(columns[0]), bool)
    if len(first):
        first[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return first


def sorted_rows(columns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The order that sorts columns of whole numbers, the first one foremost, and True where a row
    in that order differs from the one before it."""
    # One number a row, where all its values fit into 63 bits, sorts ten times as fast.
    key, room = np.zeros(len(columns[0]), np.int64), 1
    for column in columns if len(key) else []:
        low, high = int(column.min()), int(column.max())
        room *= high - low + 1
        if room > np.iinfo(np.int64).max:
            order = np.lexsort(columns[::-1])
            return order, first_of_each([column[order] for column in columns])
        key = key * (high - low + 1) + (column - low)
    order = np.argsort(key)
    return order, first_of_each([key[order]])


@dataclass(frozen=True, eq=False)
class Counts:
    """Columns of equal length, sorted and without duplicates; build them with `Counts.of`.

    second      int64: whole seconds since an origin that the caller keeps, where a bin begins
    elapsed_ms  int64: the time that was measured, in milliseconds
    ok          bool: whether JMeter called the sample a success
    code        int32: index into `codes`, the response codes in sorted order
    n           int64: how many samples share the four values above
    width       seconds in a bin
    """

    second: Ints
    elapsed_ms: Ints
    ok: Flags
    code: NDArray[np.int32]
    n: Ints
    codes: tuple[str, ...] = ()
    width: int = 1

    @classmethod
    def of(
        cls,
        second: ArrayLike,
        elapsed_ms: ArrayLike,
        ok: ArrayLike | None = None,
        code: ArrayLike | None = None,
        codes: Iterable[str] = (),
        n: ArrayLike | None = None,
        width: int = 1,
    ) -> Counts:
        """Counts of samples given as columns in any order, with duplicates or without.

        Left out, `ok` means that all succeeded, `code` that all have the first of `codes` (or
        the empty code), and `n` that each row is one sample. Raises ValueError on ragged columns
        or a code outside `codes`.
        """
        seconds = np.asarray(second, np.int64)
        size = len(seconds)
        samples = np.ones(size, np.int64) if n is None else np.asarray(n, np.int64)
        columns = [
            seconds,
            np.asarray(elapsed_ms, np.int64),
            np.ones(size, bool) if ok is None else np.asarray(ok, bool),
            np.zeros(size, np.int32) if code is None else np.asarray(code, np.int32),
        ]
        if any(len(column) != size for column in [*columns, samples]):
            raise ValueError("counts need columns of equal length")
        columns[3], names = sorted_codes(columns[3], tuple(codes) or ("",))
        order, first = sorted_rows(columns)
        if size:
            samples = np.add.reduceat(samples[order], np.flatnonzero(first))
        seconds, elapsed, succeeded, places = (column[order[first]] for column in columns)
        return cls(seconds, elapsed, succeeded, places, samples, names, width)

    @classmethod
    def merged(cls, parts: Iterable[Counts]) -> Counts:
        """All parts as one; the parts must share their origin. ValueError if bins differ."""
        parts = list(parts)
        widths = {part.width for part in parts} or {1}
        if len(widths) > 1:
            raise ValueError(f"counts in bins of {sorted(widths)} s can't be merged")
        if len(parts) < 2:
            return parts[0] if parts else cls.of([], [])
        codes = tuple(sorted({code for part in parts for code in part.codes}))
        place = {code: index for index, code in enumerate(codes)}

        def column(name: str) -> np.ndarray:
            return np.concatenate([getattr(part, name) for part in parts])

        moved = [np.array([place[c] for c in part.codes], np.int32)[part.code] for part in parts]
        second, elapsed_ms, ok, n = map(column, ("second", "elapsed_ms", "ok", "n"))
        return cls.of(second, elapsed_ms, ok, np.concatenate(moved), codes, n, parts[0].width)

    def __add__(self, other: Counts) -> Counts:
        return Counts.merged([self, other])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        names = ("second", "elapsed_ms", "ok", "code", "n")
        return (self.codes, self.width) == (other.codes, other.width) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in names
        )

    __hash__ = None  # type: ignore[assignment]

    def window(self, from_s: float, to_s: float) -> Counts:
        """The bins that begin in [from_s, to_s), in seconds since the origin."""
        low, high = np.searchsorted(self.second, [from_s, to_s])
        return self._rows(low, high)

    def by_second(self) -> Iterator[tuple[int, Counts]]:
        """(second, its counts) for each bin that has samples, in order."""
        bounds = [*self._starts, len(self.second)]
        for low, high in itertools.pairwise(bounds):
            yield int(self.second[low]), self._rows(low, high)

    def sum_by_second(self, weight: np.ndarray | int = 1) -> np.ndarray:
        """Sum of weight x n for each of `seconds`; `weight` is a scalar or one value a row."""
        if not len(self.second):
            return np.zeros(0)
        return np.add.reduceat(self.n * weight, self._starts)

    @cached_property
    def seconds(self) -> Ints:
        """Where the bins that have samples begin, in order (int64)."""
        return self.second[self._starts]

    @cached_property
    def bins(self) -> Ints:
        """The numbers of those bins, from 0 for the first (int64)."""
        return (self.seconds - self.seconds[:1]) // self.width

    @cached_property
    def total(self) -> int:
        return int(self.n.sum())

    @cached_property
    def errors(self) -> int:
        return int(self.n[~self.ok].sum())

    @cached_property
    def mean(self) -> float:
        """Mean elapsed in ms; NaN without samples."""
        return float(self.elapsed_ms @ self.n / self.total) if self.total else float("nan")

    @cached_property
    def stdev(self) -> float:
        """Standard deviation of elapsed in ms over all samples (ddof 0); NaN without samples."""
        if not self.total:
            return float("nan")
        return float(np.sqrt((self.elapsed_ms - self.mean) ** 2 @ self.n / self.total))

    def percentile(self, p: float) -> float:
        """The p-th percentile of elapsed in ms, p in [0, 100]; NaN without samples.

        Exact, and by the definition of numpy.percentile's default method (linear): to the last
        bit what NumPy answers for the same samples written out one by one.
        """
        if not 0 <= p <= 100:
            raise ValueError(f"percentile must be within 0 and 100, not {p}")
        if not self.total:
            return float("nan")
        position = (self.total - 1) * (p / 100)
        below = int(position)
        low, high = self.order_statistics([below + 1, min(below + 2, self.total)])
        share, gap = position - below, high - low
        return float(high - gap * (1 - share) if share >= 0.5 else low + gap * share)

    def order_statistics(self, ranks: ArrayLike) -> Floats:
        """The elapsed of the given ranks in ms (float64); rank 1 is the smallest of `total`."""
        values, upto = self._histogram
        return values[np.searchsorted(upto, np.asarray(ranks), side="left")].astype(float)

    def code_mask(self, pattern: str) -> Flags:
        """Which rows have a response code that matches the pattern (`5??`, `*Exception`).

        The name of a class that was thrown matches without its package, see short_code.
        """
        hits = [fnmatch.fnmatchcase(short_code(code), pattern) for code in self.codes]
        return np.array(hits or [False], bool)[self.code]

    def _rows(self, low: int, high: int) -> Counts:
        rows = slice(low, high)
        second, elapsed_ms, ok = self.second[rows], self.elapsed_ms[rows], self.ok[rows]
        return Counts(second, elapsed_ms, ok, self.code[rows], self.n[rows], self.codes, self.width)

    @cached_property
    def _starts(self) -> Ints:
        return np.flatnonzero(first_of_each([self.second]))

    @cached_property
    def _histogram(self) -> tuple[Ints, Ints]:
        values, place = np.unique(self.elapsed_ms, return_inverse=True)
        return values, np.cumsum(np.bincount(place, weights=self.n).astype(np.int64))
