"""What a profile says, in words. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from tollgate.base.text import format_number
from tollgate.compare.cpu import COMPUTING, WAITING
from tollgate.compare.profile.model import UNCHANGED, Function, ProfileChange, Why

#: Functions that are named.
NAMED = 3


def ms(us: float) -> str:
    """`2.1 ms`."""
    return f"{format_number(us / 1000)} ms"


def change(cpu: ProfileChange) -> str:
    """`+0.82 ms`; `none` where there is no CPU at all."""
    return signed(cpu.change_us) if cpu.change_us else "none"


def signed(us: float) -> str:
    """`-0.3 ms`."""
    return f"{'-' if us < 0 else '+'}{ms(abs(us))}"


def function(each: Function) -> str:
    """`sorted (app/search.js:12)`; the engine's have no place."""
    return f"{each.name} ({each.place})" if each.place else each.name


def line(cpu: ProfileChange) -> str:
    """`2.1 ms in base, 2.9 ms in head, +0.82 ms (at least +0.7 ms, at most +0.9 ms)`."""
    both = f"{ms(cpu.base_us)} in base, {ms(cpu.head_us)} in head"
    return f"{both}, {change(cpu)} (at least {signed(cpu.low_us)}, at most {signed(cpu.high_us)})"


def sentence(why: Why) -> str:
    """What the whole of it comes to, in one line."""
    if why.problem:
        return f"No profile: {why.problem}."
    return f"{_head(why, why.cpu)}. CPU per answered request: {line(why.cpu)}."


def _head(why: Why, cpu: ProfileChange) -> str:
    first = function(why.named[0]) if why.named else ""
    if why.outcome == COMPUTING:
        where = f"most of all in {first}" if first else "in no function beyond doubt"
        return f"Head computes more, {where}"
    if why.outcome == WAITING:
        more = f", although {first} computes more" if first else ""
        return f"Head is waiting, not computing: its CPU is not what takes longer{more}"
    if first:
        whole = "is less" if cpu.high_us < 0 else "is not known to have risen by what matters"
        return f"{first} computes more in head, but its CPU as a whole {whole}"
    if why.outcome == UNCHANGED:
        return "No function of head is known to compute more"
    return "The profile does not show whether head computes more or waits"


def named(why: Why) -> list[tuple[str, str]]:
    """(function, its CPU per answered request) of the first few that made head slower."""
    return [(function(it), line(it.own)) for it in why.named[:NAMED]]


def by_label(why: Why) -> list[str]:
    """Of each label that takes longer, whether head waits or computes, a line each."""
    return [it.line for it in why.labels if it.rise_ms is not None]


def about(why: Why) -> Iterator[str]:
    """How it was found, a line each."""
    if why.problem:
        return
    yield (
        f"Profiled after the verdict, both sides at the same time, in {why.blocks} blocks with "
        f"{why.answered:,} answers. The intervals hold together: in at most "
        f"{100 * why.level:g} of 100 runs anything is named of a head that is like its base."
    )
