"""Why head is slower: what both sides' processes computed.

In: a folder of .cpuprofile files. Out: CPU per answered request by function, and what changed.
"""

from __future__ import annotations

from tollgate.profile import words
from tollgate.profile.differences import explain
from tollgate.profile.model import (
    COMPUTING,
    NAME,
    Flame,
    Function,
    Why,
    absent,
    read_why,
    write_why,
)
from tollgate.profile.read import BLOCK_S, FOLDER, GAP_S, SIDES, ProfileError, draw, read_blocks

__all__ = [
    "BLOCK_S",
    "COMPUTING",
    "FOLDER",
    "GAP_S",
    "NAME",
    "SIDES",
    "Flame",
    "Function",
    "ProfileError",
    "Why",
    "absent",
    "draw",
    "explain",
    "read_blocks",
    "read_why",
    "words",
    "write_why",
]
