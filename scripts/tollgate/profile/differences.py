"""CPU per answered request, head against base, function by function. Pure.

Both sides run at the same time, and a block gives each function one difference: head's time by its
samples over head's answers, minus base's. The intervals over blocks are Student's t, made
simultaneous by Bonferroni's inequality (Dunn 1961, Multiple Comparisons among Means, JASA 56): half
of the level is for all of the CPU, the other half is shared by the functions. Which functions are
asked about is chosen by both sides' sum, which says nothing of their difference.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tollgate.profile import flame
from tollgate.profile.model import (
    COMPUTING,
    LESS,
    MORE,
    SAME,
    UNCHANGED,
    UNKNOWN,
    VERSION,
    WAITING,
    Change,
    Function,
    Overhead,
    Why,
)
from tollgate.profile.read import Block, Frame, ProfileError, Use

Floats = NDArray[np.float64]
#: What a function is known by in both sides: its name and its file.
Key = tuple[str, str]

#: Blocks below which no interval is worth its name.
LEAST_BLOCKS = 6
#: Functions with less than this share of both sides' CPU together are not asked about.
LEAST_SHARE = 0.005
ANONYMOUS = "(anonymous)"


def explain(
    blocks: Sequence[Block], level: float, effect: float, rise_us: float | None, failed: bool
) -> Why:
    """What the profile says. level: how often anything may be named of a head that is like its
    base. effect: the smallest rise that matters, as a share. failed: whether the comparison did,
    and rise_us: by how much head's mean response time was longer then, None where that is unknown.

    Raises ProfileError where too little was answered."""
    on = [it for it in blocks if it.on and it.base.answered and it.head.answered]
    if len(on) < LEAST_BLOCKS:
        raise ProfileError(
            f"both sides answered in {len(on)} blocks of the profile, and {LEAST_BLOCKS} are needed"
        )
    key_by = _keys_by(_moved_files(on))
    tally = _Tally(on, key_by)
    sums = {side: np.array([_sum(getattr(it, side)) for it in on]) for side in ("base", "head")}
    cpu_pair = sums["base"], sums["head"]
    least = effect / 2 * float(sums["base"].mean())
    cpu = _change(*cpu_pair, level / 2, least)
    asked = [key for key in tally.own if _share(tally.own[key], cpu_pair) >= LEAST_SHARE]
    functions = [
        Function(
            name=key[0],
            file=key[1],
            line=tally.lines[key],
            caller=tally.caller(key),
            own=_change(*tally.own[key], level / 2 / len(asked), least),
            base_total_us=float(tally.total[key][0].mean()),
            head_total_us=float(tally.total[key][1].mean()),
        )
        for key in asked
    ]
    functions.sort(key=lambda it: (it.moved == SAME, -abs(it.own.change_us)))
    return Why(
        version=VERSION,
        problem="",
        outcome=_outcome(cpu, functions, rise_us, failed),
        level=level,
        blocks=len(on),
        answered=sum(it.base.answered + it.head.answered for it in on),
        cpu=cpu,
        overhead=_overhead(blocks),
        functions=tuple(functions),
        flame=flame.graph(on, {(it.name, it.file): it.moved for it in functions}, key_by),
    )


def _outcome(
    cpu: Change, functions: Iterable[Function], rise_us: float | None, failed: bool
) -> str:
    """Head waits where its CPU can have risen by no more than half of what its answers took
    longer."""
    if cpu.moved == MORE or any(it.moved == MORE for it in functions):
        return COMPUTING
    if not failed:
        return UNCHANGED
    return WAITING if rise_us and cpu.high_us < rise_us / 2 else UNKNOWN


def owner(stack: Sequence[Frame]) -> Frame:
    """The function whose time the last frame of a stack is: native code works for its caller, and
    an anonymous function for the named one of its file that called it, such as a comparator for
    the function that sorts."""
    at = len(stack) - 1
    while at and not stack[at].file:
        at -= 1
    last = stack[at]
    named = (it for it in reversed(stack[: at + 1]) if it.file == last.file and it.name)
    return next(named, last)


def key_of(frame: Frame) -> Key:
    return frame.name or ANONYMOUS, frame.file


def _keys_by(renamed: Mapping[Key, Key]) -> Callable[[Frame], Key]:
    return lambda frame: renamed.get(key_of(frame), key_of(frame))


def _moved_files(blocks: Sequence[Block]) -> dict[Key, Key]:
    """Base's keys of the service's own functions that head has in another file: by name, where each
    side has one of it."""
    found = {"base": defaultdict(set), "head": defaultdict(set)}
    for side, by_name in found.items():
        for block in blocks:
            for stack in getattr(block, side).stacks:
                for frame in stack:
                    if frame.name and _is_own(frame.file):
                        by_name[frame.name].add(frame.file)
    base, head = found["base"], found["head"]
    return {
        (name, *files): (name, *head[name])
        for name, files in base.items()
        if len(files) == 1 and len(head.get(name, ())) == 1 and files != head[name]
    }


def _is_own(file: str) -> bool:
    return bool(file) and not file.startswith(("node:", "node_modules/"))


class _Tally:
    """Microseconds per answered request by function, float[base or head, block]: its own, and with
    all that it called. callers: head's more by who called it. lines: where it begins."""

    def __init__(self, blocks: Sequence[Block], key: Callable[[Frame], Key]) -> None:
        shape = 2, len(blocks)
        self.key = key
        self.own: dict[Key, Floats] = defaultdict(lambda: np.zeros(shape))
        self.total: dict[Key, Floats] = defaultdict(lambda: np.zeros(shape))
        self.callers: dict[Key, Counter[Key]] = defaultdict(Counter)
        self.lines: dict[Key, int] = {}
        for number, block in enumerate(blocks):
            for side, use in enumerate((block.base, block.head)):
                for stack, us in use.stacks.items():
                    self._add(stack, us / use.answered, (side, number))

    def _add(self, stack: Sequence[Frame], us: float, at: tuple[int, int]) -> None:
        frame, side = owner(stack), at[0]
        own, keys = self.key(frame), [self.key(it) for it in stack]
        self.own[own][at] += us
        for key in {own, *keys}:
            self.total[key][at] += us
        for key, each in zip(keys, stack, strict=True):
            if side or key not in self.lines:
                self.lines[key] = each.line
        above = keys[: keys.index(own)]
        caller = next((it for it in reversed(above) if _is_own(it[1])), None)
        if caller:
            self.callers[own][caller] += us if side else -us

    def caller(self, key: Key) -> str:
        """`toTickets (app/targets/search/carriers/aurora.js:28)`."""
        for (name, file), _ in self.callers[key].most_common(1):
            return f"{name} ({file}:{self.lines[name, file]})"
        return ""


def _sum(use: Use) -> float:
    return sum(use.stacks.values()) / use.answered


def _share(pair: Floats, cpu: Iterable[Floats]) -> float:
    whole = sum(float(side.sum()) for side in cpu)
    return float(pair.sum()) / whole if whole else 0.0


def _change(base: Floats, head: Floats, level: float, least: float) -> Change:
    """level: two-sided, of this one. least: microseconds."""
    difference = head - base
    mean, n = float(difference.mean()), len(difference)
    half = float(stats.t.isf(level / 2, n - 1) * difference.std(ddof=1) / np.sqrt(n))
    low, high = mean - half, mean + half
    matters = abs(mean) >= least
    moved = MORE if low > 0 and matters else LESS if high < 0 and matters else SAME
    return Change(float(base.mean()), float(head.mean()), mean, low, high, moved)


def _overhead(blocks: Sequence[Block]) -> Overhead | None:
    """By Welch's t (1947) of the blocks' logarithms; None without two of a kind."""
    cost: dict[bool, list[float]] = {True: [], False: []}
    for block in blocks:
        answered = block.base.answered + block.head.answered
        cpu_us = block.base.cpu_us + block.head.cpu_us
        if answered and cpu_us:
            cost[block.on].append(cpu_us / answered)
    if min(map(len, cost.values())) < 2:
        return None
    on, off = (np.log(cost[kind]) for kind in (True, False))
    found = stats.ttest_ind(on, off, equal_var=False).confidence_interval(0.95)
    low, high = (float(np.expm1(end)) for end in found)
    return Overhead(float(np.mean(cost[False])), float(np.mean(cost[True])), low, high)
