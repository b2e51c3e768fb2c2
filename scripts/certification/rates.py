"""Shares with their exact intervals. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from scipy import stats

LEVEL = 0.95


@dataclass(frozen=True)
class Rate:
    """hits of n."""

    hits: int
    n: int

    @property
    def share(self) -> float:
        """NaN without tries."""
        return self.hits / self.n if self.n else float("nan")

    def interval(self) -> tuple[float, float]:
        """The two-sided 95 % interval of the share (Clopper and Pearson 1934, "The use of
        confidence or fiducial limits illustrated in the case of the binomial"); (0, 1) without
        tries."""
        if not self.n:
            return 0.0, 1.0
        found = stats.binomtest(self.hits, self.n).proportion_ci(LEVEL, method="exact")
        return float(found.low), float(found.high)

    def __str__(self) -> str:
        """`2 of 40 (0.6 to 16.9 %)`, and a dash without tries."""
        if not self.n:
            return "-"
        low, high = (f"{end * 100:.3g}" for end in self.interval())
        return f"{self.hits:,} of {self.n:,} ({low} to {high} %)"


def rate(outcomes) -> Rate:
    """Of a column of true and false."""
    outcomes = [bool(each) for each in outcomes]
    return Rate(sum(outcomes), len(outcomes))
