"""The arrivals of a search for capacity: drawn, appended to a file that JMeter reads as it
grows, and read again.

plans/capacity.jmx sends each row of the file when it is due, by whichever of its threads is free.
A row has ROW bytes. A page of the file holds a whole number of rows, so no reader sees half a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tollgate.capacity.model import Ask
from tollgate.record.manifest import ManifestError
from tollgate.stats.arrays import Ints

#: Bytes of a row, its newline included.
ROW = 128
#: Characters that a row has for what is asked.
LONGEST_NAME = 90
HEADER = "trial,arrival,due,of,padding"
#: What the plan calls the request to a server that does nothing, and what ends it.
NOTHING, END = "nothing", "end"


@dataclass(frozen=True)
class TrialArrivals:
    """Requests of one trial, in the order in which they are due. trial: its place in the search,
    from 1, those of the ceiling included. first: the number of the first arrival, which no other
    arrival of the file has. due_ms: int64[n], epoch milliseconds. of: what each asks."""

    trial: int
    first: int
    due_ms: Ints
    of: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.due_ms)

    def until(self, moment_ms: float) -> TrialArrivals:
        """Those that were due before a moment."""
        return self.first_of(int(np.searchsorted(self.due_ms, moment_ms)))

    def first_of(self, count: int) -> TrialArrivals:
        """So many alone."""
        return TrialArrivals(self.trial, self.first, self.due_ms[:count], self.of[:count])

    def rows(self, low: int, high: int) -> str:
        """The text of some of the rows, by their places."""
        places = ((at, self.first + at) for at in range(low, high))
        rows = (f"{self.trial},{it},{self.due_ms[at]},{self.of[at]}," for at, it in places)
        return "".join(map(row, rows))


def row(text: str) -> str:
    """A line of the file. Raises ValueError for one that is too long."""
    if len(text) >= ROW:
        raise ValueError(f"{text!r} is longer than a row of arrivals, {ROW - 1} characters")
    return text.ljust(ROW - 1) + "\n"


def drawn(
    ask: Ask, trial: int, first: int, began_ms: int, weights: Mapping[str, float], seed: int
) -> TrialArrivals:
    """The arrivals of a trial that begins at began_ms: a Poisson stream, each asking one of the
    names in `weights` at random; against a server that does nothing evenly spaced. One at least."""
    random = np.random.default_rng([seed, trial])
    length_ms = 1000 * ask.seconds
    if ask.purpose == "ceiling":
        count = max(1, round(ask.rate * ask.seconds))
        offsets, names = np.arange(count) * length_ms / count, (NOTHING,) * count
    else:
        count = max(1, random.poisson(ask.rate * ask.seconds))
        offsets = np.sort(random.uniform(0, length_ms, count))
        shares = np.array([*weights.values()]) / sum(weights.values())
        names = tuple(random.choice([*weights], count, p=shares).tolist())
    return TrialArrivals(trial, first, began_ms + offsets.astype(np.int64), names)


def read_arrivals(path: Path) -> dict[int, TrialArrivals]:
    """The arrivals of each trial in a file. Raises ManifestError."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
        rows = [line.split(",")[:4] for line in lines[1:] if not line.rstrip().endswith(f"{END},")]
        trial, arrival, due = np.array([each[:3] for each in rows], np.int64).reshape(-1, 3).T
        of = [each[3] for each in rows]
    except (OSError, ValueError, IndexError) as problem:
        raise ManifestError(f"{path} can't be read: {problem}") from None
    found = {}
    for number in np.unique(trial).tolist():
        places = np.flatnonzero(trial == number)
        asked = tuple(of[at] for at in places)
        found[number] = TrialArrivals(number, int(arrival[places[0]]), due[places], asked)
    return found
