"""From live runs to the table, with a bzt that takes no time."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from certification import live
from certification.certificate import certificate
from certification.conditions import parse
from certification.live import PLAN, Limits, Live, LiveError, budget_of, seeds_of, session
from certification.store import BROKEN, Store, StoreError
from support import stub_bzt
from support.certified import PATHS, finished, tables
from support.git_repos import repo
from tollgate.base.paths import SUITE
from tollgate.record.manifest import ManifestError

STUB = (sys.executable, str(SUITE / "tests" / "support" / "stub_bzt.py"))
CONDITIONS = parse(["aa*3", "work-20+noise"])


@pytest.fixture(scope="module", autouse=True)
def environment():
    """That of somebody who has slowed the targets and compared two services just before."""
    own = {"HEAD_URL": "http://127.0.0.1:1", "INJECT_DELAY_MS": "50", "MODE": "cluster"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**own, "PYTHONPATH": PATHS}.items():
            patch.setenv(name, value)
        yield patch


@pytest.fixture(scope="module")
def store(tmp_path_factory, environment):
    """Four live runs."""
    folder = tmp_path_factory.mktemp("certify")
    environment.setenv("ASKED", str(folder / "asked"))
    seeds = itertools.count(2)
    environment.setattr(live, "secrets", SimpleNamespace(randbelow=lambda _: next(seeds)))
    made = Store(folder / "runs", folder / "kept")
    session(made, CONDITIONS, Limits(runs=4), Live(made, command=STUB), print)
    environment.delenv("ASKED")
    return made


@pytest.fixture
def mine(tmp_path):
    """A store without runs."""
    return Store(tmp_path / "certify", tmp_path / "kept")


@pytest.fixture
def copied(store, mine):
    """The same runs in a folder of its own, to be added to."""
    shutil.copytree(store.folder, mine.folder)
    return mine


@pytest.fixture(scope="module")
def asked(store):
    """What bzt was called with, run by run."""
    return [json.loads(it) for it in store.folder.with_name("asked").read_text().splitlines()]


def test_head_alone_is_slowed_whatever_the_caller_has_set(store, asked):
    for run, call in zip(store.read(), asked, strict=True):
        percent = None if run.condition == "aa" else "20"
        assert call["environment"] == {
            "BASE": "HEAD",
            "MODE": "fork",
            "HEAD_INJECT_WORK_PERCENT": percent,
            "HEAD_URL": None,
            "INJECT_DELAY_MS": None,
        }


def test_every_run_has_arrivals_and_tosses_of_its_own_and_no_dashboard(asked):
    options = [call["options"] for call in asked]
    assert {it["modules.report.dashboards"] for it in options} == {"false"}
    seeds = seeds_of(PLAN.read_text())
    assert seeds
    for name in seeds:
        assert len({it[f"modules.jmeter.properties.{name}"] for it in options}) == len(options)


def test_a_run_is_recorded_with_all_that_the_table_needs(store):
    for run in store.read():
        assert run.verdict == ("PASS" if run.condition == "aa" else "FAIL")
        assert run.seconds == run.promise["budget_s"] == 120
        assert (run.environment["cores"], run.cores) == (2, len(os.sched_getaffinity(0)))
        assert bool(run.neighbour) == run.of.noisy
        # The stub's samples do not say what was asked for; a run is none the worse for it.
        assert "no clock: " in run.problem
    assert not store.under_way.exists()


def test_the_blocks_are_those_that_the_gate_saw(store, asked):
    for run, call in zip(store.read(), asked, strict=True):
        blocks = store.blocks(run)
        assert [it.label for it in blocks] == ["sum", "search"]
        assert {len(it.base.n) for it in blocks} == {120}
        samples = sum(it.base.total + it.head.total for it in blocks)
        assert 0.9 * call["samples"] < samples < call["samples"]


def test_the_certificate_is_made_of_all_runs(store):
    said = []
    text = certificate(store, 20, 1, said.append)
    assert "aa: 3 live runs" in said
    shown, method = tables(text)
    gate = shown["The gate, live runs"]
    always, never, none = "1 of 1 (2.5 to 100 %)", "0 of 1 (0 to 97.5 %)", "-"
    assert "| nothing (A/A) | none | 0 of 3 (0 to 70.8 %) | 3 of 3 (29.2 " in gate
    assert f"| 20 % work | noisy | {always} | {never} | - | " in gate
    assert "The gate, resampled runs" not in shown  # from three pairs of processes
    assert shown["Found in time"].split("\n")[2:] == [
        f"| 20 % work | noisy | search | live | {none} | {never} | {never} | {none} |",
        f"| 20 % work | noisy | sum | live | {none} | {always} | {always} | {none} |",
    ]
    slowed = r"\| 20 % work \| noisy \| sum \| - \| (?:19|20)\.\d ms \+[12]\d\.\d % \|"
    assert re.search(slowed, shown["How much slower head really was"])
    assert "4 live runs" in method
    assert certificate(store, 20, 1, said.append) == text


def test_a_run_whose_samples_have_changed_since_is_refused(tmp_path):
    """Between its end and the moment at which they are read."""
    spoilt = tmp_path / "run"
    leave(spoilt)
    jtl = spoilt / "kpi.jtl"
    jtl.write_text(jtl.read_text().replace(",200,OK,", ",201,OK,", 1))
    with pytest.raises(ManifestError, match="has changed since the run ended"):
        live.blocks_of(spoilt)


def test_a_run_that_cannot_start_is_broken_and_says_what_bzt_said(mine, monkeypatch):
    monkeypatch.setenv("FAILING", "at once")
    with pytest.raises(StoreError, match=r"3 runs in a row left no verdict.*no such revision"):
        session(mine, CONDITIONS, Limits(), Live(mine, command=STUB), print)
    assert [run.verdict for run in mine.read()] == [BROKEN] * 3
    with pytest.raises(StoreError, match=r"no run in .* has a verdict"):
        certificate(mine, 0, 1, print)


def test_runs_with_other_settings_or_without_a_verdict_are_left_out_and_counted(copied):
    last = copied.read()[-1]
    copied.add(replace(last, seed=105, verdict=BROKEN))
    copied.add(replace(last, seed=106), copied.blocks(last))
    assert "Left out: 1 runs without a verdict" in certificate(copied, 0, 1, print)
    promise = {**last.promise, "effect": 0.1}
    copied.add(finished(7, promise=promise, findings=(), began="2099-01-01T00:00:00+00:00"))
    assert "Left out: 5 runs in which the gate had other" in certificate(copied, 0, 1, print)


def test_runs_of_several_machines_are_told_apart(copied):
    [slowed] = [run for run in copied.read() if run.condition != "aa"]
    other = {**slowed.environment, "cpu": "Another CPU"}
    later = replace(slowed, seed=105, environment=other, began="2099-01-01T00:00:00+00:00")
    copied.add(later, copied.blocks(slowed))
    _, first, second = certificate(copied, 0, 1, print).split("### ")
    assert first.startswith(f"{slowed.environment['cpu']},")
    assert second.startswith("Another CPU,")
    assert "| 20 % work | noisy | 1 of 1 " in second


def test_a_run_whose_measurement_is_broken_lends_its_samples_to_nobody(copied):
    [slowed] = [run for run in copied.read() if run.condition != "aa"]
    copied.add(replace(slowed, seed=105, verdict="INVALID", exit_code=1), copied.blocks(slowed))
    shown, _ = tables(certificate(copied, 20, 1, print))
    ours = "| 20 % work | noisy | 1 of 2 (1.26 to 98.7 %) |"
    # Neither it nor what was found in it is a find.
    assert f"{ours} 0 of 2 (0 to 84.2 %) | 1 INVALID | - | " in shown["The gate, live runs"]
    one = "1 of 2 (1.26 to 98.7 %)"
    assert f"| sum | live | - | {one} | {one} |" in shown["Found in time"]
    simpler = shown["FAIL of two simpler gates, live runs"]
    assert re.search(rf"{re.escape(ours)} - \| [01] of 1 ", simpler)


@pytest.mark.parametrize(
    ("options", "seconds"),
    [([], 600), (["effect=10%"], 600), (["budget=20m"], 1200), (["budget=20m", "budget=60"], 60)],
)
def test_a_run_has_the_time_that_its_budget_gives_it(options, seconds):
    assert budget_of([f"modules.compare.{it}" for it in options]) == seconds
    with pytest.raises(LiveError, match="budget is 'long'"):
        budget_of(["modules.compare.budget=long"])


def test_a_run_that_takes_too_long_is_broken_and_keeps_no_samples(mine, monkeypatch):
    def too_long(command, _environment, _log, most_s):
        raise subprocess.TimeoutExpired(command, most_s)

    monkeypatch.setattr(live, "run_to_end", too_long)
    execute = Live(mine, ("modules.compare.budget=20m",), command=STUB)
    session(mine, CONDITIONS, Limits(runs=1), execute, print)
    [run] = mine.read()
    assert (run.verdict, run.exit_code, mine.blocks(run)) == (BROKEN, None, [])
    assert run.problem == "bzt took longer than 1800 s"


def leave(folder):
    """What a run leaves that comes to its end."""
    options = {"modules.jmeter.properties.coin_seed": "1", "settings.artifacts-dir": str(folder)}
    stub_bzt.compare(options)


@pytest.mark.parametrize(
    ("revision", "told"),
    [
        (None, "working tree at 1a2b3c4, with changes"),
        ("5d6e7f8" + 33 * "0", "working tree at 5d6e7f8"),
    ],
)
def test_a_run_that_compared_something_else_than_the_same_code_ends_it_and_is_not_kept(
    mine, monkeypatch, revision, told
):
    """Somebody edits a file, or checks something out, hours after the session began."""

    def other_code(command, *_):
        made = next(it for it in command if it.startswith("settings.artifacts-dir="))
        folder = Path(made.partition("=")[2])
        leave(folder)
        file = folder / "compare.json"
        raw = json.loads(file.read_text())
        raw["head"] |= {"revision": revision, "description": told}
        file.write_text(json.dumps(raw))
        return 0

    monkeypatch.setattr(live, "run_to_end", other_code)
    with pytest.raises(LiveError, match=rf"compared base, .*, with head, {told}: both must be"):
        session(mine, CONDITIONS, Limits(runs=2), Live(mine, command=STUB), print)
    assert mine.read() == []
    assert not [it for it in mine.folder.rglob("*") if it.name == "kpi.jtl"]


@pytest.mark.parametrize(
    "path", ["package.json", "package-lock.json", ".npmrc", "app/new.js", "app/server.js"]
)
def test_a_changed_target_or_package_is_refused_because_nothing_would_be_a_a(
    tmp_path, monkeypatch, path
):
    made = repo(tmp_path / "repo")
    made.commit("{}", "package.json")
    monkeypatch.setattr(live, "SUITE", made.root)
    live.check_like()
    made.write(path, "changed")
    with pytest.raises(LiveError, match=rf"{re.escape(path)} is not in HEAD as it is here"):
        live.check_like()
