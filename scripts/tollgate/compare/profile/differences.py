"""CPU per answered request, head against base, function by function. Pure.

A side's CPU per request is a ratio: time by samples over answers, both summed over blocks. Its
error is that of the blocks' residuals (the ratio estimator, Cochran 1977, Sampling Techniques,
chapter 6), those of both sides taken block by block, for they ran at the same time; so a block with
few answers weighs little. Intervals are Student's t over blocks, made simultaneous by Bonferroni's
inequality (Dunn 1961, Multiple Comparisons among Means, JASA 56): half of the level is for all of
the CPU, the other half is shared by the functions. Which functions are asked about is chosen by
both sides' sum, which says nothing of their difference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np
from scipy import special

from tollgate.compare.cpu import COMPUTING, UNKNOWN, WAITING, LabelCpu
from tollgate.compare.model import CPU, PERCENTILES, TYPICAL
from tollgate.compare.profile import flame
from tollgate.compare.profile.model import (
    LESS,
    MORE,
    SAME,
    UNCHANGED,
    VERSION,
    Function,
    ProfileChange,
    Why,
    outcome_of,
)
from tollgate.compare.profile.read import SIDES, Frame, Key, ProfileBlock, ProfileError, Stacks
from tollgate.stats.arrays import Floats

#: Blocks below which no interval is worth its name.
LEAST_BLOCKS = 6
#: Functions with less than this share of both sides' CPU together are not asked about.
LEAST_SHARE = 0.005
BASE, HEAD = 0, 1
_TIMES = {TYPICAL, "mean", *PERCENTILES}


def explain(
    blocks: Sequence[ProfileBlock],
    level: float,
    effect: float,
    rise_us: float | None,
    failed: Collection[str],
    labels: Sequence[LabelCpu] = (),
) -> Why:
    """What the profile says. level: how often anything may be named of a head that is like its
    base. effect: the smallest rise that matters, as a share. rise_us: by how much head's mean
    response time was longer, None where that is unknown. failed: metrics of the comparison
    that did. labels: what the comparison has measured of their CPU time.

    Raises ProfileError where too little was answered."""
    blocks = [it for it in blocks if it.base.answered and it.head.answered]
    if (count := len(blocks)) < LEAST_BLOCKS:
        raise ProfileError(f"both sides answered in {count} blocks, and {LEAST_BLOCKS} are needed")
    renamed = _moved_files(blocks)

    def key_of(frame: Frame) -> Key:
        return renamed.get(frame.key, frame.key)

    tally = _Tally(blocks, key_of)
    whole = sum(tally.own.values(), np.zeros(tally.answered.shape))
    least = effect / 2 * tally.per_request(whole)[BASE]
    cpu = _change(whole, tally.answered, level / 2, least)
    compared = [key for key, us in tally.own.items() if us.sum() >= LEAST_SHARE * whole.sum()]
    functions = [
        Function(
            name=key[0],
            file=key[1],
            line=tally.lines[key],
            own=_change(tally.own[key], tally.answered, level / 2 / len(compared), least),
            base_total_us=tally.per_request(tally.total[key])[BASE],
            head_total_us=tally.per_request(tally.total[key])[HEAD],
        )
        for key in compared
    ]
    functions.sort(key=lambda each: (each.moved == SAME, -abs(each.own.change_us)))
    return Why(
        version=VERSION,
        problem="",
        outcome=_outcome(cpu, rise_us, failed, labels),
        level=level,
        blocks=len(blocks),
        answered=sum(it.base.answered + it.head.answered for it in blocks),
        cpu=cpu,
        functions=tuple(functions),
        flame=flame.graph(blocks, {(it.name, it.file): it.moved for it in functions}, key_of),
        labels=tuple(labels),
    )


def _outcome(
    cpu: ProfileChange,
    rise_us: float | None,
    failed: Collection[str],
    labels: Sequence[LabelCpu],
) -> str:
    """Head computes more where all of its CPU rose: a function that takes more may have taken it
    from another. It waits where a time has failed, and its CPU can have risen by no more than half
    of what its answers took longer. What a minute of profile can't tell, the minutes of the
    comparison may."""
    if cpu.moved == MORE or CPU in failed:
        return COMPUTING
    if not failed:
        return UNCHANGED
    is_longer = bool(rise_us and rise_us > 0 and _TIMES.intersection(failed))
    if is_longer and cpu.high_us < rise_us / 2:
        return WAITING
    return outcome_of(labels) or UNKNOWN


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


def _moved_files(blocks: Sequence[ProfileBlock]) -> dict[Key, Key]:
    """Base's keys of the service's own functions that head has in another file: by name, where each
    side has one of it."""
    base, head = (_files_by_name(getattr(it, side).stacks for it in blocks) for side in SIDES)
    return {
        (name, *files): (name, *head[name])
        for name, files in base.items()
        if len(files) == 1 and len(head.get(name, ())) == 1 and files != head[name]
    }


def _files_by_name(stacks_of_blocks: Iterable[Stacks]) -> dict[str, set[str]]:
    """In which files of the service itself each name stands."""
    files = defaultdict(set)
    for frame in {frame for stacks in stacks_of_blocks for stack in stacks for frame in stack}:
        is_foreign = frame.file.startswith("node:") or "node_modules/" in frame.file
        if frame.name and frame.file and not is_foreign:
            files[frame.name].add(frame.file)
    return files


class _Tally:
    """Microseconds by function, float[base or head, block]: its own, and with all that it called.
    answered: requests, likewise. lines: where it begins, in head if it is there."""

    def __init__(self, blocks: Sequence[ProfileBlock], key: Callable[[Frame], Key]) -> None:
        shape = 2, len(blocks)
        self.key = key
        sides = ([it.base.answered for it in blocks], [it.head.answered for it in blocks])
        self.answered: Floats = np.array(sides, dtype=float)
        self.own: dict[Key, Floats] = defaultdict(lambda: np.zeros(shape))
        self.total: dict[Key, Floats] = defaultdict(lambda: np.zeros(shape))
        self.lines: dict[Key, int] = {}
        for number, block in enumerate(blocks):
            for side, use in enumerate((block.base, block.head)):
                for stack, us in use.stacks.items():
                    self._add(stack, us, side, number)

    def _add(self, stack: Sequence[Frame], us: float, side: int, block: int) -> None:
        self.own[self.key(owner(stack))][side, block] += us
        for key in {self.key(frame) for frame in stack}:
            self.total[key][side, block] += us
        for frame in stack:
            if side == HEAD or self.key(frame) not in self.lines:
                self.lines[self.key(frame)] = frame.line

    def per_request(self, us: Floats) -> list[float]:
        """Of base and of head, over all blocks."""
        return (us.sum(axis=1) / self.answered.sum(axis=1)).tolist()


def _change(us: Floats, answered: Floats, level: float, least: float) -> ProfileChange:
    """us, answered: float[base or head, block]. level: two-sided, of this one. least: microseconds
    below which no change matters."""
    ratio = us.sum(axis=1) / answered.sum(axis=1)
    shares = answered / answered.sum(axis=1)[:, None]
    # As the jackknife has it: a block's residual from the ratio of the others.
    residuals = (us - ratio[:, None] * answered) / answered.mean(axis=1)[:, None] / (1 - shares)
    difference, n = residuals[1] - residuals[0], us.shape[1]
    mean = float(ratio[1] - ratio[0])
    half = float(-special.stdtrit(n - 1, level / 2) * difference.std(ddof=1) / np.sqrt(n))
    low, high = mean - half, mean + half
    matters = abs(mean) >= least
    moved = MORE if low > 0 and matters else LESS if high < 0 and matters else SAME
    return ProfileChange(float(ratio[0]), float(ratio[1]), mean, low, high, moved)
