"""Real processes of the project, base and head, profiled while both answer the same requests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import support
from tollgate.profile import SIDES, explain, read_blocks

SCRIPT = support.ROOT / "scripts" / "tollgate" / "targets" / "profile-worker.js"
PATHS = ("/sum/3000000", "/search?origin=AMS&destination=BER&date=2026-06-15")
#: Seconds of a block, and between two of them.
BLOCK_S, GAP_S = 0.7, 0.2
ON, OFF = 9, 2
SUM = "app/targets/sum.js"
AURORA = "app/targets/search/carriers/aurora.js"


def copy(folder: Path) -> Path:
    """The service in a folder of its own."""
    shutil.copytree(support.ROOT / "app", folder / "app")
    (folder / "node_modules").symlink_to(support.ROOT / "node_modules")
    return folder


@contextmanager
def serving(root: Path, found: Path) -> Iterator[int]:
    """The port of a service that is profiled."""
    found.mkdir(parents=True)
    port = support.free_port()
    command = ["node", "--require", SCRIPT, f"--diagnostic-dir={found}", "app/server.js"]
    env = support.environment(PORT=str(port), HOST="127.0.0.1")
    process = subprocess.Popen(command, cwd=root, env=env, stdout=subprocess.DEVNULL)
    try:
        support.wait_until(lambda: support.listens(port), "it listens")
        yield port
    finally:
        process.terminate()
        process.wait()


def schedule(folder: Path) -> float:
    """Write the blocks down; returns when the last one ends, in seconds since the epoch."""
    begin = time.time() + 1.5
    starts = [begin + number * (BLOCK_S + GAP_S) for number in range(ON + OFF)]
    listed = [
        {"from": 1000 * at, "to": 1000 * (at + BLOCK_S), "on": number % 5 != 2}
        for number, at in enumerate(starts)
    ]
    draft = folder / "draft"
    draft.write_text(json.dumps(listed))
    draft.rename(folder / "schedule.json")
    return starts[-1] + BLOCK_S


def why(tmp_path: Path, change: dict[str, tuple[str, str]]):
    """What a profile says of a head in whose files texts are changed."""
    roots = {side: copy(tmp_path / side) for side in SIDES}
    for file, (old, new) in change.items():
        path = roots["head"] / file
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))
    found = tmp_path / "found"
    with ExitStack() as open_:
        ports = [open_.enter_context(serving(roots[side], found / side)) for side in SIDES]
        end_s = schedule(found)
        while time.time() < end_s:
            for path in PATHS:
                for port in ports:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
                        assert answer.status == 200
        written = lambda: [  # noqa: E731
            text for it in found.glob("*/*.jsonl") if f'"block":{ON + OFF - 1},' in (text := it.read_text())
        ]
        support.wait_until(lambda: len(written()) == len(SIDES), "the last block is written")
    real = {side: [Path(os.path.realpath(root)), support.ROOT] for side, root in roots.items()}
    return explain(read_blocks(found, real), 0.01, 0.05, None, failed=True), found


def test_a_carrier_that_sorts_again_and_again_is_named_with_its_function(tmp_path):
    said, found = why(
        tmp_path,
        {
            AURORA: (
                "  return JSON.parse(raw).result.offers.map(",
                "  return sortedAgain(JSON.parse(raw).result.offers).map(",
            ),
            "app/targets/search/carriers/aurora.js ": ("", ""),
        }
        if False
        else {AURORA: ("module.exports =", SORTING), **{}},
    )
    assert said.named[0].name == "sortedAgain"
