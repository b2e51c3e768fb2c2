"""The differential flame graph (Gregg 2014, Differential Flame Graphs): both sides' stacks merged
into one tree, each frame with the CPU per answered request of both. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tollgate.compare.profile.model import SAME, Flame
from tollgate.compare.profile.read import SIDES, Frame, Key, ProfileBlock

#: Frames narrower than this share of the graph are left out.
NARROWEST = 0.004
_PACKAGE = re.compile(r"(?:.*/)?node_modules/((?:@[^/]+/)?[^/]+)/")


@dataclass
class _Node:
    name: str
    place: str = ""
    moved: str = SAME
    us: list[float] = field(default_factory=lambda: [0.0, 0.0])
    below: dict[tuple[str, ...], _Node] = field(default_factory=dict)

    @property
    def width(self) -> float:
        return max(*self.us, sum(each.width for each in self.below.values()))


def graph(
    blocks: Sequence[ProfileBlock], moved: Mapping[Key, str], key_of: Callable[[Frame], Key]
) -> tuple[Flame, ...]:
    """The frames from the root up. moved: of the functions that were asked about. key_of: by which
    a function of base is the same as one of head."""
    root = _Node("all")
    answered = [sum(getattr(it, side).answered for it in blocks) for side in SIDES]
    for block in blocks:
        for side, use in enumerate((block.base, block.head)):
            for stack, us in use.stacks.items():
                share = us / answered[side]
                node = root
                node.us[side] += share
                for key, frame in _path(stack, moved, key_of):
                    node = node.below.setdefault(key, frame)
                    node.us[side] += share
    return tuple(_laid_out(root, 0, 0.0, NARROWEST * root.width))


def _path(
    stack: Sequence[Frame], moved: Mapping[Key, str], key_of: Callable[[Frame], Key]
) -> Iterator[tuple[tuple[str, ...], _Node]]:
    """The frames that are drawn of a stack: native code and anonymous functions belong to who
    called them, and calls within a package are one."""
    last: tuple[str, ...] = ()
    named: set[str] = set()
    for number, frame in enumerate(stack):
        if (not frame.file and number) or (not frame.name and frame.file in named):
            continue
        if frame.name:
            named.add(frame.file)
        key = key_of(frame)
        package = _package(frame.file)
        change = moved.get(key, SAME)
        if package and change == SAME:
            if last == (package,):
                continue
            last, node = (package,), _Node(package)
        elif key == last:
            continue  # a function that calls itself
        else:
            place = f"{frame.file}:{frame.line}" if frame.file else ""
            last, node = key, _Node(key[0], place, change)
        yield last, node


def _package(file: str) -> str:
    """Whose file it is; empty for the service's own, and for the engine."""
    found = _PACKAGE.match(file)
    return found[1] if found else "Node" if file.startswith("node:") else ""


def _laid_out(node: _Node, depth: int, from_us: float, least: float) -> Iterator[Flame]:
    base, head = node.us
    yield Flame(node.name, node.place, depth, from_us, node.width, base, head, node.moved)
    for _, each in sorted(node.below.items()):
        if (width := each.width) >= least:
            yield from _laid_out(each, depth + 1, from_us, least)
            from_us += width
