"""What a person is told about a load before it begins. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tollgate.forecast.load import arrival_counts
from tollgate.forecast.model import LoadStep


def announce(steps: Sequence[LoadStep], drain_s: float = 0.0, scale: float = 1.0) -> str:
    """How many steps and requests one execution has, and how long it is, in one line.

    drain_s: the pause at its end. What starting and stopping the targets takes is not in it.
    """
    rates = [step.tps for step in steps]
    compressed = f" in time compressed {scale:g} times" if scale > 1 else ""
    return (
        f"{len(steps)} steps from {steps[0].name} on{compressed}: "
        f"{sum(arrival_counts(steps)[1:]):,} requests at {min(rates):.3g} to {max(rates):.3g} a "
        f"second in {duration_text(steps[-1].to_s + drain_s)}"
    )


def duration_text(seconds: float) -> str:
    """`24 h 0 min`, `1 min 10 s`, `8 s`, `2.5 s`: rounded to the smaller of the two units."""
    if seconds < 10:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min"
