"""A whole bisect over a real history, whose runs look for words in the commits that they get."""

import json
import os
import signal
import sys

import pytest

from support import grep_run
from support.git_repos import SERVER, repo
from tollgate.base.exit_codes import ExitCode
from tollgate.base.processes import SIGNALS, end_by
from tollgate.base.text import UserError
from tollgate.cli.bisect import asked as module
from tollgate.cli.bisect.asked import Asked
from tollgate.cli.bisect.comparison import Runs
from tollgate.cli.bisect.search import Search
from tollgate.compare.settings import read_setup
from tollgate.targets import builds, leftovers, lock, pm2
from tollgate.targets.bisection import Span
from tollgate.targets.packages import Provision
from tollgate.targets.sides import Source

#: What BAD of the archived comparison fails by.
FOCUS = {
    "modules.compare.labels": '["sum"]',
    "modules.compare.gates": '["p50", "errors"]',
    "modules.compare.error-effect": "1%",
}


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """The suite's own folder, and the signals as they were."""
    folder = tmp_path / "suite" / ".tollgate"
    folder.mkdir(parents=True)
    for name, path in {"STATE": folder, "LOCK": "run.lock", "STARTED": "started.json"}.items():
        monkeypatch.setattr(lock, name, folder / path)
    monkeypatch.setattr(module, "STATE", folder)
    monkeypatch.setattr(builds, "SUITE", folder.parent)
    monkeypatch.setattr(leftovers, "BASE", folder / "base")
    monkeypatch.setattr(pm2, "PM2_HOME", folder / "pm2")
    monkeypatch.setattr(pm2, "started_from", lambda: str(tmp_path))
    monkeypatch.setenv("TOLLGATE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield folder
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def made(tmp_path):
    return repo(tmp_path / "repo")


@pytest.fixture
def bisect(made, tmp_path):
    """One call of the command; returns its exit code."""

    def call(good, bad="main", **provision):
        app = pm2.App("web", 4000, "fork", 1, script=str(made.root / SERVER), cwd=str(made.root))
        asked = Asked(
            names=(good, bad),
            span=Span.of(made.root, good, bad),
            words=("-compare",),
            runs=tmp_path / "suite" / "reports",
            setup=read_setup({"budget": "5m"}, {}),
            app=app,
            source=Source(made.root, made.root, made.root / "app"),
            provision=Provision(**provision),
        )
        runs = Runs(sys.executable, grep_run.__file__)
        end_by(runs.interrupt)
        return Search(asked, runs).run()

    return call


@pytest.fixture
def seen(tmp_path):
    """What each run since has got: (base, head, options)."""

    def read():
        lines = (tmp_path / "seen").read_text().splitlines()
        return [tuple(json.loads(line).values()) for line in lines]

    return read


def history(made, *texts):
    """Commits them one after the other, a number behind each; returns their SHAs."""
    first = made.git("rev-parse", "HEAD")
    return [first, *(made.commit(f"{text} {at}") for at, text in enumerate(texts, 1))]


def nothing_left(tmp_path, state):
    """Whether no build and no word of a bisect is kept."""
    return list((tmp_path / "cache").iterdir()) == [] and not (state / "bisect").exists()


def test_the_commit_is_found_and_held_against_its_parent(
    made, bisect, seen, capsys, tmp_path, state
):
    shas = history(made, *["fast"] * 8, *["slow"] * 8)
    made.write(SERVER, "not committed")
    before, files = made.state(), sorted((made.root / ".git").rglob("*"))
    assert bisect(shas[0]) == ExitCode.PASS
    asked = seen()
    assert [(base, head) for base, head, _ in asked[:1]] == [("first", "slow 16")]
    assert {base for base, _, _ in asked[:-1]} == {"first"}
    assert asked[-1][:2] == ("fast 8", "slow 9")
    assert len(asked) == 1 + 4 + 1
    # BAD by all, the others by what BAD failed by, the last one with a profile.
    assert not FOCUS.keys() & asked[0][2].keys()
    assert all(FOCUS.items() <= options.items() for _, _, options in asked[1:])
    profiled = [options["modules.compare.profile"] for _, _, options in asked]
    assert profiled == ["false"] * 5 + ["true"]
    assert {options["modules.compare.budget"] for _, _, options in asked} == {"300"}
    assert {options["modules.verdict.inconclusive-passes"] for *_, options in asked} == {"false"}
    out = capsys.readouterr().out
    assert f"16 commits may be the one, from {shas[0]} ({shas[0][:7]}) to main" in out
    assert "Bisect: 6 comparisons, first of BAD, at most" in out
    assert out.count(f"Bisect: building {shas[0][:7]} first\n") == 1
    assert f"{shas[9][:7]} slow 9 (a, " in out
    assert "p50 of sum: head 10.9 ms against base 6.07 ms, +77.2 % (at least +23.4 %, at" in out
    assert made.state() == before
    assert sorted((made.root / ".git").rglob("*")) == files
    assert nothing_left(tmp_path, state)
    runs = sorted(it.name for it in (tmp_path / "suite" / "reports").iterdir())
    assert len(runs) == 6
    assert runs[-1].endswith(f"-bisect-6-{shas[9][:7]}")


def test_each_commit_is_built_once(made, bisect, tmp_path):
    shas = history(made, *["fast"] * 3, "slow", "noisy", "slow")
    bisect(shas[0], install=f"cat {SERVER} >> '{tmp_path}/built'; echo >> '{tmp_path}/built'")
    built = (tmp_path / "built").read_text().splitlines()
    assert len(built) == len({*built})
    assert {"first", "slow 6"} <= {*built}


def test_one_that_is_interrupted_goes_on_where_it_was(made, bisect, seen, tmp_path, state, capsys):
    shas = history(made, *["fast"] * 7, "interrupts, slow", *["slow"] * 8)
    before, files = made.state(), sorted((made.root / ".git").rglob("*"))
    with pytest.raises(KeyboardInterrupt):
        bisect(shas[0])
    known = [head for _, head, _ in seen()]
    assert known == ["slow 16", "interrupts, slow 8"]
    assert made.state() == before
    assert sorted((made.root / ".git").rglob("*")) == files
    assert not nothing_left(tmp_path, state)
    capsys.readouterr()
    assert bisect(shas[0]) == ExitCode.PASS
    again = [head for _, head, _ in seen()][len(known) :]
    assert "slow 16" not in again
    assert again[0] == "interrupts, slow 8"
    out = capsys.readouterr().out
    assert "it goes on: 5 comparisons at most" in out
    assert f"{shas[8][:7]} interrupts, slow 8 (a, " in out
    assert nothing_left(tmp_path, state)


def test_what_can_t_be_told_is_measured_longer_and_skipped(made, bisect, seen, capsys):
    shas = history(made, "fast", "fast", "noisy", "slow", "slow")
    assert bisect(shas[0]) == ExitCode.INCONCLUSIVE
    budgets = [it["modules.compare.budget"] for _, head, it in seen() if head == "noisy 3"]
    assert budgets == ["300", "600"]
    assert seen()[-1][:2] == ("first", "slow 4")
    out = capsys.readouterr().out
    assert out.count(f"  {shas[3][:7]} noisy 3\n") == out.count(f"  {shas[4][:7]} slow 4\n") == 1


@pytest.mark.parametrize("word", ["dies", "wrong", "absent"])
def test_a_commit_that_does_not_run_or_answers_wrongly_is_skipped(made, bisect, seen, capsys, word):
    shas = history(made, "fast", "fast", "fast")
    if word == "absent":
        made.git("mv", SERVER, "app/moved.js")
        made.git("commit", "--quiet", "--message", "absent 4")
    else:
        made.commit(f"{word} 4")
    if word == "absent":
        made.git("mv", "app/moved.js", SERVER)
    last = [made.commit(f"slow {at}") for at in (5, 6, 7)]
    assert bisect(shas[0]) == ExitCode.INCONCLUSIVE
    assert [head for _, head, _ in seen()].count(f"{word} 4") == (word != "absent")
    out = capsys.readouterr().out
    assert f"{word} 4: skipped after " in out
    assert f"  {last[0][:7]} slow 5\n" in out


@pytest.mark.parametrize(
    ("word", "code", "said"),
    [
        ("invalid", ExitCode.INVALID, "INVALID after "),
        ("busy", ExitCode.ERROR, "port 3002 of app 'head' is in use by pid 12"),
    ],
)
def test_what_is_wrong_beside_the_commit_stops_it_with_the_reason(
    made, bisect, seen, capsys, word, code, said
):
    shas = history(made, "fast", word, "slow", "slow")
    assert bisect(shas[0]) == code
    assert seen()[-1][1] == f"{word} 2"
    assert said in capsys.readouterr().out
    before = len(seen())
    assert bisect(shas[0]) == code
    assert [head for _, head, _ in seen()[before:]] == [f"{word} 2"]


def test_what_the_machine_is_to_blame_for_stops_it_and_no_commit_is_skipped(
    made, bisect, seen, capsys, tmp_path
):
    shas = history(made, "fast", "full", "slow", "slow")
    install = f"! grep -q full {SERVER} || test -e '{tmp_path}/room' || {{ echo ENOSPC; false; }}"
    with pytest.raises(UserError, match=r"; with that mended, the same command") as refused:
        bisect(shas[0], install=install)
    log = tmp_path / "suite" / "reports" / f"install-{shas[2][:7]}.log"
    assert f"(all of it: {log})" in str(refused.value)
    (tmp_path / "room").touch()
    assert bisect(shas[0], install=install) == ExitCode.PASS
    assert [head for _, head, _ in seen()].count("full 2") == 1
    assert "skipped" not in capsys.readouterr().out
    assert log.read_text() == "ENOSPC\n"


def test_a_change_of_the_load_begins_anew(made, bisect, seen, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SUITE", tmp_path / "suite")
    shas = history(made, "fast", "invalid", "slow", "slow")
    for text, times in (("one", 1), ("one", 1), ("other", 2)):
        (tmp_path / "suite" / "taurus.yml").write_text(text)
        assert bisect(shas[0]) == ExitCode.INVALID
        assert [head for _, head, _ in seen()].count("slow 4") == times


def test_a_bad_that_can_t_be_compared_is_told_with_what_to_do(made, bisect, seen, capsys):
    shas = history(made, "fast", "dies")
    for times in (1, 2):
        assert bisect(shas[0]) == ExitCode.ERROR
        assert [head for _, head, _ in seen()] == ["dies 2"] * times
    out = capsys.readouterr().out
    assert "Bisect: BAD can't be compared with GOOD (" in out
    assert "): name another BAD, or mend what the line above says\n" in out


def test_a_bad_that_is_as_fast_as_good_ends_it_after_one_comparison(
    made, bisect, seen, tmp_path, state
):
    shas = history(made, "fast", "slow", "fast")
    with pytest.raises(UserError, match=r"^BAD is no slower than GOOD: "):
        bisect(shas[0])
    assert len(seen()) == 1
    assert nothing_left(tmp_path, state)


def test_a_bad_that_can_t_be_told_ends_it_without_a_commit(
    made, bisect, seen, tmp_path, state, capsys
):
    shas = history(made, "fast", "noisy")
    assert bisect(shas[0]) == ExitCode.INCONCLUSIVE
    assert [head for _, head, _ in seen()] == ["noisy 2", "noisy 2"]
    assert "was found or ruled out: raise modules.compare.budget" in capsys.readouterr().out
    assert nothing_left(tmp_path, state)


def test_a_merge_is_held_against_the_parent_that_has_what_good_has(made, bisect, seen):
    made.git("branch", "old")
    good = made.commit("fast 1")
    made.git("switch", "--quiet", "old")
    made.commit("slowly\n", "other.txt")
    made.git("merge", "--quiet", "--no-ff", "--no-commit", "main")
    merge = made.commit("slow 2")
    made.commit("slow 3")
    assert made.git("rev-list", "--count", "--merges", "HEAD") == "1"
    assert bisect(good, "old") == ExitCode.PASS
    assert seen()[-1][:2] == ("fast 1", "slow 2")
    assert merge


def test_builds_stay_for_a_call_that_goes_on(made, bisect, tmp_path):
    shas = history(made, "fast", "invalid", "slow", "slow")
    install = f"echo >> '{tmp_path}/built'"
    for _ in range(2):
        bisect(shas[0], install=install)
    assert (tmp_path / "built").read_text().count("\n") == 3
