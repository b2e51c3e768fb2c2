"""Blocks of time in which both sides ran and were profiled, as profile-worker.js leaves them.

A .cpuprofile is V8's (Chrome DevTools Protocol, Profiler.Profile): a tree of call frames, samples
of its nodes, and the time between them. Samples come when they can rather than when they are due,
so each counts for the time up to the next one; but no longer than LONGEST times the median, for a
process that waits for a core is not sampled either, and computes nothing. Where the system reports
how much CPU the main thread had, all of a block's samples together are no more than that.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

#: Of a run, with a folder for each side.
FOLDER = "profile"
SIDES = ("base", "head")
#: Seconds of a block, and between two of them for what one that ends writes.
BLOCK_S, GAP_S = 1.5, 0.25
#: Blocks of a profile.
BLOCKS = 22
#: Medians of the time between samples.
LONGEST = 3
IDLE = "(idle)"
#: What profiles is no part of what it profiles.
PROFILER = "profile-worker.js"
#: What a function is known by in both sides: its name and its file.
Key = tuple[str, str]
ANONYMOUS = "(anonymous)"


class ProfileError(Exception):
    """One line: why there is no profile."""


class Frame(NamedTuple):
    """A function. name: empty for an anonymous one. file: relative, empty for native code and the
    engine. line: from 1, 0 without a file."""

    name: str
    file: str
    line: int

    @property
    def key(self) -> Key:
        return self.name or ANONYMOUS, self.file


#: Microseconds that the last frame of each stack took by itself; the first one is outermost.
Stacks = Mapping[tuple[Frame, ...], float]


@dataclass
class Use:
    """What all processes of a side did in a block. answered: requests. stacks: of the main threads
    without (idle)."""

    answered: int = 0
    stacks: Counter[tuple[Frame, ...]] = field(default_factory=Counter)


@dataclass(frozen=True)
class ProfileBlock:
    """What both sides did in it."""

    base: Use
    head: Use


def schedule(begin_ms: int) -> list[dict[str, float]]:
    """schedule.json: when each block begins and ends, in ms since the epoch."""
    starts = (begin_ms + 1000 * number * (BLOCK_S + GAP_S) for number in range(BLOCKS))
    return [{"from": start, "to": start + 1000 * BLOCK_S} for start in starts]


def read_blocks(folder: Path, roots: Mapping[str, Sequence[Path]]) -> list[ProfileBlock]:
    """All blocks of a schedule. folder: of the profiles. roots: folders by side, to which its files
    are relative: the first that holds one. Raises ProfileError."""
    try:
        count = len(json.loads((folder / "schedule.json").read_text()))
        uses = {side: [Use() for _ in range(count)] for side in SIDES}
        for side in SIDES:
            for lines in sorted((folder / side).glob("*.jsonl")):
                for line in map(json.loads, lines.read_text().splitlines()):
                    if line["profiled"]:
                        profile = lines.with_name(f"{lines.stem}-{line['block']}.cpuprofile")
                        _add(uses[side][line["block"]], line, profile, roots[side])
    except (OSError, ValueError, LookupError, TypeError) as problem:
        raise ProfileError(f"what was profiled can't be read: {problem!r}") from None
    return [ProfileBlock(base, head) for base, head in zip(*uses.values(), strict=True)]


def _add(use: Use, line: Mapping[str, Any], file: Path, roots: Sequence[Path]) -> None:
    """One process's part of a block. A block that a busy process began as it ended has no samples:
    what its answers cost is not known, so they do not count either."""
    profile = json.loads(file.read_text())
    if profile["samples"]:
        use.answered += line["answered"]
        use.stacks.update(_scaled(stacks(profile, roots), line["threadUs"]))


def _scaled(sampled: Stacks, thread_us: float | None) -> Stacks:
    """No more in all than the system's clock of the thread's CPU has, if known. It may well have
    more: the sampling of an idle thread, which is the cost of no function."""
    sampled_us = sum(sampled.values())
    if thread_us is None or sampled_us <= thread_us:
        return sampled
    return Counter({stack: us * thread_us / sampled_us for stack, us in sampled.items()})


def stacks(profile: Mapping[str, Any], roots: Sequence[Path]) -> Stacks:
    """Of one .cpuprofile. Raises LookupError, TypeError and ValueError for what is none,
    or has no samples."""
    nodes = {node["id"]: node for node in profile["nodes"]}
    above_of = {child: node["id"] for node in nodes.values() for child in node.get("children", ())}
    paths: dict[int, tuple[Frame, ...]] = {}

    def path(number: int) -> tuple[Frame, ...]:
        if number not in paths:
            above = path(above_of[number]) if number in above_of else ()
            paths[number] = (*above, _frame(nodes[number]["callFrame"], roots))
        return paths[number]

    for number in nodes:  # V8 lists parents first, so that no path is deep in recursion
        path(number)
    at = [*accumulate(profile["timeDeltas"], initial=profile["startTime"])][1:]
    most_us = LONGEST * median(profile["timeDeltas"])
    taken_us: Counter[tuple[Frame, ...]] = Counter()
    for number, (begin, end) in zip(
        profile["samples"], pairwise([*at, max(profile["endTime"], at[-1])]), strict=True
    ):
        stack = paths[number][1:]  # without the root
        is_ours = any(frame.file.endswith(PROFILER) for frame in stack)
        if stack and stack[0].name != IDLE and not is_ours:
            taken_us[stack] += min(end - begin, most_us)
    return taken_us


def _frame(call: Mapping[str, Any], roots: Sequence[Path]) -> Frame:
    if not call["url"]:
        return Frame(call["functionName"], "", 0)
    return Frame(call["functionName"], _relative(call["url"], roots), call["lineNumber"] + 1)


def _relative(url: str, roots: Sequence[Path]) -> str:
    """The same text for both sides' copies of a file, as far as they are in their checkouts."""
    if url.startswith("node:"):
        return url
    file = Path(unquote(urlsplit(url).path) if url.startswith("file:") else url)
    for root in roots:
        if file.is_relative_to(root):
            return file.relative_to(root).as_posix()
    return str(file)
