"""The folder of a run whose load remote engines have sent, to its verdict."""

import csv
from dataclasses import replace

import pytest

from support import run_folder, run_pages
from tollgate.engines.divided import RemoteEngine, divide
from tollgate.engines.machine import Facts
from tollgate.engines.probe import Answer
from tollgate.gather import evidence
from tollgate.record import manifest

HOSTS = ("10.0.0.1:1099", "10.0.0.2:1099")
#: By so much is the clock of the second engine ahead.
AHEAD_MS = 300
TARGET = {"name": "cluster", "mode": "cluster", "instances": 2}


def sent_by_both(recorded):
    """The recorded samples, by each of the engines, in one file."""
    names, *rows = csv.reader(recorded.decode().splitlines())
    lines = [names]
    for row in (dict(zip(names, it, strict=True)) for it in rows):
        for host, ahead_ms in zip(HOSTS, (0, AHEAD_MS), strict=True):
            by_its_clock = {it: int(row[it]) + ahead_ms for it in ("timeStamp", "TESTSTART.MS")}
            thread = f"{host}-{row['threadName']}"
            lines.append([*(row | by_its_clock | {"threadName": thread}).values()])
    return "".join(",".join(map(str, line)) + "\n" for line in lines)


def facts(number):
    return Facts(number, 2, jmeter="5.6.3", java="17", plugins="", plans={}, cpu="quick", cores=2)


def divided(folder, *criteria):
    made = run_folder.make(folder, criteria, targets=[TARGET])
    (folder / run_folder.JTL).write_text(sent_by_both(run_folder.recorded()))
    run_pages.watch(folder)
    known = {"of": 2, "rows": "", "data": {}, "start_at": None}
    remotes = [
        RemoteEngine(
            share=manifest.ShareRecord(number=number, host=host, **known),
            answer=Answer(host, facts(number), [], float(ahead_ms), uncertainty_ms=1.0),
            parts={},
        )
        for number, host, ahead_ms in zip((1, 2), HOSTS, (0, AHEAD_MS), strict=True)
    ]
    manifest.write(divide(made, folder, remotes), folder)


def test_what_was_seen_of_workers_is_judged_beside_the_samples_of_all_engines(tmp_path):
    divided(tmp_path, "p50 of nap>1s", "rss of worker>1GB", "restarts of worker>0")
    verdict = run_folder.verdict_of(tmp_path)
    assert (verdict.verdict, verdict.reasons) == ("PASS", ())
    (execution,) = verdict.executions
    times, rss, restarts = execution.criteria
    run_folder.make(tmp_path / "one", ("p50 of nap>1s",))
    alone = run_folder.verdict_of(tmp_path / "one").executions[0].criteria[0]
    assert (times.samples, times.observed) == (2 * alone.samples, alone.observed)
    assert rss.observed == 64_000_000 / 2**20  # MB, as Node counts them
    assert restarts.observed == 0


def test_a_worker_that_needs_too_much_or_that_nobody_watched_is_told(tmp_path):
    for name, limit in (("greedy", "1MB"), ("alone", "1GB")):
        (tmp_path / name).mkdir()
        divided(tmp_path / name, "p50 of nap>1s", f"rss of worker>{limit}")
    (tmp_path / "alone" / "workers.jsonl").unlink()
    assert run_folder.verdict_of(tmp_path / "greedy").verdict == "FAIL"
    assert run_folder.verdict_of(tmp_path / "alone").verdict == "INVALID"


def test_engines_are_put_beside_one_another_by_one_clock(tmp_path):
    divided(tmp_path, "p50 of nap>1s")
    found, _ = evidence.gather(tmp_path, manifest.read(tmp_path))
    first, second = found.executions[0].engines
    assert (first.name, second.name) == ("1/2", "2/2")
    assert first.from_s == pytest.approx(second.from_s)


def test_rows_that_overtook_one_another_are_no_clock_that_was_set(tmp_path):
    divided(tmp_path, "p50 of nap>1s")
    first, _ = (tmp_path / it["folder"] for it in manifest.read(tmp_path).engines)
    record = manifest.read(first)
    names, *rows = (first / run_folder.JTL).read_text().splitlines(keepends=True)
    middle = len(rows) // 2
    run_folder.spoil(first, "".join([names, *rows[middle:], *rows[:middle]]).encode())
    found, _ = evidence.gather(first, manifest.read(first))
    assert found.executions[0].facts.machine_problems == ()
    alone = replace(record, share=None)
    alone.executions = manifest.read(first).executions
    found, _ = evidence.gather(first, alone)
    (problem,) = found.executions[0].facts.machine_problems
    assert "set back" in problem
