import json
import shutil
import subprocess
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

import support
from tollgate.compare.model import TYPICAL
from tollgate.compare.profile.differences import explain
from tollgate.compare.profile.read import SIDES, read_blocks

SCRIPT = support.ROOT / "scripts" / "tollgate" / "targets" / "profile-worker.js"
SEARCH = "/search?origin=AMS&destination=BER&date=2026-06-15"
PATHS = ("/sum/2000000", SEARCH, SEARCH)
#: Seconds of a block, and between two of them.
BLOCK_S, GAP_S = 0.7, 0.2
WARMUP_S = 6
BLOCKS = 13
SUM = "app/targets/sum.js"
AURORA = "app/targets/search/carriers/aurora.js"
SORTS_AGAIN = """
  const again = JSON.parse(raw).result.offers;
  for (let times = 0; times < 30000; times += 1) {
    again.sort((a, b) => (times % 2 ? 1 : -1) * (a.fare.amount < b.fare.amount ? -1 : 1));
  }"""
ROUND_TRIP = """
      const rows = Array.from({ length: 6000 }, (_, at) => ({ at, name: `row ${at}` }));
      if (JSON.parse(JSON.stringify(rows)).length !== rows.length) throw new Error('lost');"""


@contextmanager
def serving(root, found):
    """The port of a service that is profiled."""
    found.mkdir(parents=True)
    port = support.free_port()
    command = ["node", "--require", SCRIPT, f"--diagnostic-dir={found}", "app/server.js"]
    env = support.environment(PORT=str(port), HOST="127.0.0.1")
    process = subprocess.Popen(command, cwd=root, env=env, stdout=subprocess.DEVNULL)
    try:
        is_up = lambda: support.listens(port) or process.poll() is not None  # noqa: E731
        support.wait_until(is_up, "it listens")
        assert process.poll() is None
        yield port
    finally:
        process.terminate()
        process.wait()


def schedule(folder):
    """Write the blocks down; returns when the last one ends, in seconds since the epoch."""
    begin = time.time() + WARMUP_S
    starts = [begin + number * (BLOCK_S + GAP_S) for number in range(BLOCKS)]
    listed = [{"from": 1000 * at, "to": 1000 * (at + BLOCK_S)} for at in starts]
    draft = folder / "draft"
    draft.write_text(json.dumps(listed))
    draft.rename(folder / "schedule.json")
    return starts[-1] + BLOCK_S


def ask(path, ports, end_s):
    """Ask both sides in turn for as long as there are blocks; returns how often."""
    times = 0
    while time.time() < end_s:
        for port in ports:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
                assert answer.status == 200
        times += 1
    return times


def why(tmp_path, change):
    """What a profile says of a head in whose files texts are changed."""
    roots = {side: tmp_path / side for side in SIDES}
    for root in roots.values():
        shutil.copytree(support.ROOT / "app", root / "app")
        shutil.copy(support.ROOT / "package.json", root)
        (root / "node_modules").symlink_to(support.ROOT / "node_modules")
    for file, (old, new) in change.items():
        path = roots["head"] / file
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))
    found = tmp_path / "found"
    with ExitStack() as open_:
        ports = [open_.enter_context(serving(roots[side], found / side)) for side in SIDES]
        end_s = schedule(found)
        with ThreadPoolExecutor(len(PATHS)) as users:
            done = [users.submit(ask, path, ports, end_s) for path in PATHS]
            assert min(user.result() for user in done) > 0
        support.wait_until(lambda: have_written(found) == len(SIDES), "the last block is written")
    real = {side: [root.resolve(), support.ROOT] for side, root in roots.items()}
    return explain(read_blocks(found, real), 0.01, 0.05, None, failed=(TYPICAL,)), found


def have_written(found):
    """Processes that have written their last block."""
    last = f'"block":{BLOCKS - 1},'
    return sum(last in each.read_text() for each in found.glob("*/*.jsonl"))


@pytest.mark.long
def test_a_carrier_that_sorts_again_and_again_is_named_by_the_function_that_does(tmp_path):
    parses = "return JSON.parse(raw)"
    said, found = why(tmp_path, {AURORA: (parses, f"{SORTS_AGAIN}\n  {parses}")})
    first = said.named[0]
    assert (said.outcome, first.name, first.file) == ("computing", "toTickets", AURORA)
    for side in SIDES:
        [lines] = (found / side).glob("*.jsonl")
        wrote = [json.loads(line) for line in lines.read_text().splitlines()]
        assert [it["block"] for it in wrote] == list(range(BLOCKS))
        kept = {int(it.stem.partition("-")[2]) for it in lines.parent.glob("*.cpuprofile")}
        assert kept == {it["block"] for it in wrote if it["profiled"]}


def test_a_synchronous_round_trip_through_json_is_named_by_the_handler_that_makes_it(tmp_path):
    said, _ = why(tmp_path, {SUM: ("const asked", f"{ROUND_TRIP}\n      const asked")})
    first = said.named[0]
    assert (first.name, first.file, first.own.low_us > 0) == ("/sum/:n", SUM, True)


@pytest.mark.long
def test_of_a_head_like_its_base_nothing_is_named(tmp_path):
    moved_down = {SUM: ("'use strict';", "'use strict';\n\n// Moved down.\n")}
    # A busy machine can slow one side's process down; lines taken for others are so every time.
    for at in range(3):
        said, _ = why(tmp_path / str(at), moved_down)
        if not said.named:
            break
    assert (said.named, said.outcome) == ([], "unknown")
    work = next(it for it in said.functions if it.name == "addUpTo")
    text = (tmp_path / str(at) / "head" / SUM).read_text()
    assert text.splitlines()[work.line - 1].startswith("function addUpTo")
