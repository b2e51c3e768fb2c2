"""The list of runs shows every run, drops nothing without a word, and no file can break it."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import support
from support import listed_runs, pages
from support.listed_runs import criterion
from tollgate.history.listed import read
from tollgate.report.pages.kit.assemble import PageError
from tollgate.report.pages.runs import build, charts

ATTACK = "</script><script>alert(1)</script>"
FIGURES = {"fork": [criterion("sum", 20.0), criterion("pi", 200.0, verdict="FAIL")]}
TOLLGATE = Path(sys.executable).with_name("tollgate")


def text_of(folder):
    """What can be read on the page of a folder."""
    return pages.text_of(build.write(folder).read_text())


def moved(folder):
    """Two dozen runs in which two of three figures moved at the same run."""
    for at in range(24):
        slow = 1 + (at >= 12)
        figures = [criterion("sum", slow * (20.0 + at % 3)), criterion("pi", 200.0 + at % 5)]
        figures.append(criterion("sum", 0.0, "fail", unit="%"))
        listed_runs.make(folder, at, {"fork": figures})


def test_runs_stand_newest_first_with_verdict_kind_and_a_link(tmp_path):
    old = listed_runs.make(tmp_path, 0, FIGURES, verdict="FAIL")
    new = listed_runs.make(tmp_path, 1, FIGURES, kind="soak")
    (new / "index.html").write_text("page")
    found = [(it.name, it.kind, it.verdict) for it in read(tmp_path).runs]
    assert found == [(new.name, "soak", "PASS"), (old.name, "check", "FAIL")]
    page = build.write(tmp_path).read_text()
    assert f'href="{new.name}/index.html"' in page
    assert f'href="{old.name}/verdict.md"' in page
    assert "1 of 2" in page


def test_every_link_leads_to_a_file(tmp_path):
    moved(tmp_path)
    run = listed_runs.make(tmp_path, 30, FIGURES)
    run.rename(run.with_name("a run? of #1: 100%"))
    links = re.findall('href="([^#"][^"]*)"', build.write(tmp_path).read_text())
    assert "a%20run%3F%20of%20%231%3A%20100%25/verdict.md" in links
    for name in links:
        assert (tmp_path / re.sub("%(..)", lambda it: chr(int(it[1], 16)), name)).is_file()


def test_latest_is_not_listed_twice_and_a_link_to_a_run_elsewhere_once(tmp_path):
    run = listed_runs.make(tmp_path / "reports", 0, FIGURES)
    other = listed_runs.make(tmp_path / "archive", 1, FIGURES)
    reports = run.parent
    (reports / "latest").symlink_to(run.name)
    (reports / "archived").symlink_to(other)
    (reports / "gone").symlink_to("nowhere")
    (reports / "circle").symlink_to("circle")
    assert [it.name for it in read(reports).runs] == ["archived", run.name]


def test_folders_that_hold_no_run_are_counted_and_named(tmp_path):
    listed_runs.make(tmp_path, 0, FIGURES)
    for name in ("screenshots", "20261101T090000Z-check"):
        (tmp_path / name).mkdir()
    (tmp_path / "20261101T090000Z-check" / "junit.xml").write_text("<testsuites/>")
    text = text_of(tmp_path)
    assert "2 folders with no run.json and no verdict.json" in text
    assert "screenshots" in text


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "broken")])
def test_a_folder_that_nobody_may_look_into_does_not_hide_the_others(error, tmp_path, monkeypatch):
    listed_runs.make(tmp_path, 0, FIGURES)
    (tmp_path / "0-lost+found").mkdir()
    real = {name: getattr(Path, name) for name in ("exists", "is_file", "stat")}

    def refused(name):
        def ask(path, *args, **options):
            if path.parent.name == "0-lost+found":
                raise error
            return real[name](path, *args, **options)

        return ask

    for name in real:
        monkeypatch.setattr(Path, name, refused(name))
    assert build.holds_runs(tmp_path)
    text = text_of(tmp_path)
    assert f"0-lost+found it can't be read: {error.strerror}" in text
    assert "only run" in text


def test_criteria_without_a_say_are_not_counted_among_those_that_hold(tmp_path):
    noted = criterion("pi", 300.0, verdict="FAIL", decides=False)
    figures = {"fork": [criterion("sum", 20.0, decides=True), noted]}
    listed_runs.make(tmp_path, 0, figures)
    assert "1 of 1" in text_of(tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (8, 4, "too few runs to tell: 12 of 13"),
        (12, 2, "no change shown; in the newest runs even a clear one may not show yet"),
        (12, 4, "20.5 to 2070 ms (+9998 %)"),
    ],
)
def test_new_slow_runs_are_not_said_to_be_no_change(before, after, says, tmp_path):
    steady = [20.0, 21.0, 20.1, 20.9, 20.2, 20.8] * 2
    listed_runs.series(tmp_path, [*steady[:before], *[2050.0, 2100.0, 2000.0, 2090.0][:after]])
    assert says in text_of(tmp_path)


BROKEN = dict.fromkeys([b"{oops", b"", b"\xff\xfe\x00", b"[" * 100_000], "is not JSON")


@pytest.mark.parametrize(
    ("content", "why"), [*BROKEN.items(), (b"[1, 2]", "holds no object but [1, 2]")]
)
def test_a_broken_verdict_is_listed_as_unreadable_with_the_reason(content, why, tmp_path):
    listed_runs.make(tmp_path, 0, FIGURES)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "verdict.json").write_bytes(content)
    text = text_of(tmp_path)
    assert f"broken verdict.json {why}" in text
    assert "only run" in text


def test_what_is_no_file_is_not_waited_for(tmp_path):
    for name, make in {"pipe": os.mkfifo, "folder": os.mkdir}.items():
        (tmp_path / name).mkdir()
        make(tmp_path / name / "verdict.json")
    assert text_of(tmp_path).count("verdict.json is not a file") == 2


def test_a_run_without_a_verdict_still_stands_with_what_run_json_tells(tmp_path):
    run = listed_runs.make(tmp_path, 0, FIGURES)
    (run / "verdict.json").write_text('{"verdict": "MAYBE"}')
    (listed,) = read(tmp_path).runs
    assert (listed.kind, listed.verdict) == ("check", None)
    assert "none of the verdicts PASS, INCONCLUSIVE, FAIL, INVALID" in text_of(tmp_path)
    (run / "verdict.json").unlink()
    assert "still under way" in text_of(tmp_path)


def test_older_files_are_read_as_far_as_they_go(tmp_path):
    run = listed_runs.make(tmp_path, 0, FIGURES)
    (run / "history.jsonl").unlink()
    (run / "run.json").write_text('{"kind": "check"}')
    (run / "verdict.json").write_text(json.dumps({"verdict": "FAIL"}))
    (listed,) = read(tmp_path).runs
    assert (listed.verdict, listed.started) == ("FAIL", listed_runs.BEGIN)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_content_of_the_three_files_breaks_the_page(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    names = data.draw(st.sets(st.sampled_from(["run.json", "verdict.json", "history.jsonl"])))
    for run in listed_runs.series(folder, [20.0, 21.0]):
        for name in sorted(names):
            content = json.loads((run / name).read_text())
            _spoil(content, data)
            (run / name).write_text(json.dumps(content))
    assert build.write(folder).is_file()
    found = read(folder)
    assert len(found.runs) + len(found.unreadable) == 2


def _spoil(content, data):
    """Put anything in the place of one field, at any depth."""
    key = data.draw(st.sampled_from(sorted(content)))
    inner = content[key][0] if isinstance(content[key], list) and content[key] else content[key]
    if isinstance(inner, dict) and inner and data.draw(st.booleans()):
        _spoil(inner, data)
    else:
        content[key] = data.draw(ANYTHING)


def test_another_page_of_that_name_is_left_alone(tmp_path):
    listed_runs.make(tmp_path, 0, FIGURES)
    (tmp_path / "index.html").write_text("<title>My site</title>")
    with pytest.raises(PageError, match=r"index\.html is another page; move it"):
        build.write(tmp_path)
    assert "My site" in (tmp_path / "index.html").read_text()


def test_what_moved_stands_first_and_the_page_comes_out_the_same_again(tmp_path):
    moved(tmp_path)
    first = build.write(tmp_path).read_bytes()
    assert build.write(tmp_path).read_bytes() == first
    assert sorted(it.name for it in tmp_path.iterdir() if it.is_file()) == ["index.html"]
    text = pages.text_of(first.decode())
    assert "Trends: 1 of 3 figures moved to another level." in text
    assert "p95 of sum check, fork 21 to 42 ms (+100 %) worse neither commit nor versions" in text
    assert "1 figure with the same value in every run fail of sum (fork): 0 %" in text


def test_runs_that_end_at_once_leave_a_whole_page_with_all_of_them(tmp_path):
    def end(at):
        listed_runs.make(tmp_path, at, FIGURES)
        for _ in range(3):
            build.write(tmp_path)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(end, range(6)))
    page = (tmp_path / "index.html").read_text()
    assert page.endswith("</html>\n")
    assert "newest of 6 runs" in page
    assert not list(tmp_path.glob(".*"))


def test_processes_that_write_at_once_wait_for_each_other(tmp_path):
    listed_runs.series(tmp_path, [20.0, 21.0])
    command = [TOLLGATE, "report", tmp_path]
    started = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [each.wait(support.PATIENCE) for each in started] == [0, 0, 0]
    assert (tmp_path / "index.html").read_text().endswith("</html>\n")


def test_the_command_says_where_the_page_is_and_refuses_a_folder_without_runs(tmp_path):
    listed_runs.make(tmp_path / "reports", 0, FIGURES)
    done = support.run(TOLLGATE, "report", tmp_path / "reports")
    assert (done.returncode, done.stdout.strip()) == (0, str(tmp_path / "reports" / "index.html"))
    refused = support.run(TOLLGATE, "report", tmp_path)
    assert refused.returncode == 1
    assert "is not the folder of a run" in refused.stderr


def test_too_few_runs_are_said_to_be_too_few(tmp_path):
    listed_runs.series(tmp_path, [20.0, 21.0, 90.0])
    text = text_of(tmp_path)
    assert "too few runs to tell: 3 of 13" in text
    assert "What changed" not in text


def test_hundreds_of_runs_give_a_small_page_that_says_what_it_leaves_out(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "MOST", 200)
    for at in range(240):
        kind = f"kind-{at % 12}"
        figures = [criterion(f"label {name}", 20.0 + (at * 7 + name) % 11) for name in range(15)]
        listed_runs.make(tmp_path, at, {"fork": figures, "cluster": figures}, kind=kind)
    path = build.write(tmp_path)
    page = path.read_text()
    assert path.stat().st_size < 1_000_000
    assert page.count("data-chart=") == charts.MOST
    assert "40 still earlier runs are not listed here" in page
    assert "6 older trends are not shown" in page


def test_an_empty_folder_is_a_page_all_the_same(tmp_path):
    assert "There is no run in this folder yet." in text_of(tmp_path)


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_a_browser_shows_it_from_disk_without_an_error_or_a_request(scheme, width, tmp_path):
    moved(tmp_path)
    listed_runs.make(tmp_path, 30, FIGURES, kind="soak", verdict="FAIL")
    seen = pages.look_from_disk(build.write(tmp_path), width, scheme)
    assert len(seen["colours"]) == 2
    assert all(len(found) > 2 for found in seen["colours"])


@pytest.mark.needs("chromium")
def test_a_kind_is_chosen_by_mouse_or_keyboard(tmp_path):
    listed_runs.make(tmp_path, 0, FIGURES)
    listed_runs.make(tmp_path, 1, FIGURES, kind="soak", reasons=[{"text": "a leak"}])
    path = build.write(tmp_path)
    times = ("2026-11-01 08:00", "2026-11-01 09:00")
    clicked = pages.look(path, "--click", "label:has(#kind-1)")
    assert [it in clicked["text"].split("commit")[1] for it in times] == [True, False]
    pressed = pages.look(path, "--press", "ArrowRight@#kind-all")
    assert [it in pressed["text"].split("commit")[1] for it in times] == [False, True]


@pytest.mark.needs("chromium")
def test_a_label_that_is_a_script_stays_text_in_a_browser(tmp_path):
    for at in range(12):
        figures = {ATTACK: [criterion(ATTACK, 20.0 + at % 3)]}
        reasons = [{"text": ATTACK, "fault": ATTACK}]
        environment = listed_runs.ENVIRONMENT | {"cpu": ATTACK, "commit": ATTACK}
        listed_runs.make(tmp_path, at, figures, reasons=reasons, environment=environment)
    seen = pages.look(build.write(tmp_path), "--offline")
    assert pages.problems(seen) == []
    assert seen["text"].count(ATTACK) > 12
