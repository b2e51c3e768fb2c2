"""`tollgate merge`: the shares of a load as one run."""

import json
import re
import shutil
import xml.etree.ElementTree as ET

import jsonschema
import numpy as np
import pytest

from support import ROOT, shards
from tollgate.cli import cli
from tollgate.record import manifest

OF = 3
SCHEMA = ROOT / "scripts" / "tollgate" / "report" / "verdict.schema.json"


def call(monkeypatch, *words):
    """Run `tollgate` with these arguments; returns its exit code."""
    monkeypatch.setattr("sys.argv", ["tollgate", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code


@pytest.fixture
def merge(monkeypatch, tmp_path):
    """Merges folders; returns the exit code and the content of verdict.json, None without one."""

    def run(*folders):
        target = tmp_path / "merged"
        code = call(monkeypatch, "merge", *folders, "--to", target)
        path = target / "verdict.json"
        return code, json.loads(path.read_text()) if path.exists() else None

    return run


@pytest.fixture
def three(tmp_path):
    """The folders of three shares of a load."""
    return [shards.make(tmp_path / f"share-{k}", k, OF) for k in range(1, OF + 1)]


def concatenated(folders):
    """Times of all judged samples, straight from the JTLs: start since the share's own, elapsed."""
    found = []
    for folder in folders:
        lines = (folder / "kpi.jtl").read_text().splitlines()[1:]
        rows = np.array(
            [[int(it) for it in (*line.split(",")[:2], line.split(",")[-1])] for line in lines]
        )
        second = (rows[:, 0] - rows[:, 2]) // 1000
        until = shards.WARMUP_S + shards.MEASURED_S
        found.append(rows[(second >= shards.WARMUP_S) & (second < until), 1])
    return np.sort(np.concatenate(found))


def test_counts_and_every_percentile_are_those_of_the_concatenated_samples(merge, tmp_path):
    percents = (1, 5, 25, 50, 75, 90, 95, 99, 99.9)
    # Taurus's grammar: service times, so that what is judged is what the files hold.
    criteria = (
        *(f"p{p:g} of visit>10s" for p in percents),
        "hits of visit<1",
        "avg-lt of visit>5s",
    )
    folders = [
        shards.make(tmp_path / f"share-{k}", k, 7, rate=300, criteria=criteria, later_ms=137 * k)
        for k in range(1, 8)
    ]
    for folder in folders:
        # Service times, so that what is judged is what the files hold.
        shards.change(folder, settings={"latency": "service"})
    _, verdict = merge(*folders)
    (execution,) = verdict["executions"]
    observed = {it["subject"]: it for it in execution["criteria"]}
    times = concatenated(folders)
    assert observed["hits"]["observed"] == len(times)
    assert sum(it["requests"] for it in execution["engines"]) == len(times)
    assert observed["avg-lt"]["observed"] == pytest.approx(times.mean(), rel=1e-12)
    for p in percents:
        assert observed[f"p{p:g}"]["observed"] == np.percentile(times, p), p
        assert observed[f"p{p:g}"]["samples"] == len(times)


def test_the_merged_run_has_the_arrivals_of_the_whole_and_a_schedule_for_each_engine(merge, three):
    code, verdict = merge(*three)
    (execution,) = verdict["executions"]
    assert (code, verdict["verdict"], verdict["exit_code"]) == (0, "PASS", 0)
    known = manifest.read(ROOT / "tests" / "archive" / "check-pass").environment
    jsonschema.validate({**verdict, "environment": known}, json.loads(SCHEMA.read_text()))
    assert execution["schedules"] == []
    assert [it["name"] for it in execution["engines"]] == ["1/3", "2/3", "3/3"]
    intended = [it["schedules"][0]["intended"] for it in execution["engines"]]
    assert sum(intended) == 50 * (shards.WARMUP_S + shards.MEASURED_S)
    assert all(it["schedules"][0]["missing_generator"] == 0 for it in execution["engines"])


def test_a_merged_folder_is_judged_again_alike(merge, three, monkeypatch, tmp_path, capsys):
    merge(*three)
    capsys.readouterr()
    assert call(monkeypatch, "judge", tmp_path / "merged", "--json") == 0
    assert capsys.readouterr().out == (tmp_path / "merged" / "verdict.json").read_text()
    assert call(monkeypatch, "judge", tmp_path / "merged", "--criterion", "p50 of visit>10ms") == 3
    assert call(monkeypatch, "report", tmp_path / "merged") == 0


def test_a_merged_run_has_a_page_with_a_section_for_each_engine_and_junit(merge, three, tmp_path):
    merge(*reversed(three))
    page = (tmp_path / "merged" / "index.html").read_text()
    for number in range(1, OF + 1):
        assert f"<summary>Engine {number}/3</summary>" in page
    cases = ET.parse(tmp_path / "merged" / "junit.xml").findall(".//testcase")
    assert {it.get("name") for it in cases} >= set(shards.CRITERIA)
    record = manifest.read(tmp_path / "merged")
    assert record.share is None
    assert record.executions[0].properties["schedule"] == shards.whole()
    assert [it["folder"] for it in record.engines] == ["engine-1", "engine-2", "engine-3"]


def test_criteria_are_of_the_samples_of_all_engines(merge, tmp_path):
    """Each share's own p99 may hold or not: no engine is asked by itself."""
    folders = [
        shards.make(tmp_path / f"share-{k}", k, 2, criteria=("p50 of visit>10ms",)) for k in (1, 2)
    ]
    code, verdict = merge(*folders)
    assert (code, verdict["verdict"]) == (3, "FAIL")
    (criterion,) = verdict["executions"][0]["criteria"]
    assert criterion["samples"] == len(concatenated(folders))


def share(folder):
    return manifest.read(folder).share


def sha256(folder):
    return manifest.read(folder).executions[0].sha256


def copied(folder):
    return shutil.copytree(folder, folder.with_name("again"))


def properties(folder, **whole):
    execution = manifest.read(folder).executions[0]
    of_execution(folder, undivided_properties={**execution.undivided_properties, **whole})


def of_execution(folder, **fields):
    record = manifest.read(folder)
    for name, value in fields.items():
        setattr(record.executions[0], name, value)
    manifest.write(record, folder)


def second(change, **fields):
    """A change to the folder of the second of the shares."""
    return lambda folders: change(folders[1], **fields)


#: What makes engine 2 no share of the same load, and what the refusal names.
OTHERS = {
    "another length": (second(of_execution, measured=25.0), "measured of visits is 25.0 there and"),
    "another plan": (
        second(shards.change, environment={"plans": {"visits.jmx": "2"}, "commit": "c0ffee"}),
        "the plan files by SHA-256",
    ),
    "another commit": (second(shards.change, environment={"commit": "beef"}), "the commit"),
    "other criteria": (second(shards.change, criteria=["fail>5%"]), "the criteria"),
    "other data": (
        lambda folders: shards.change(folders[1], share=dict(share(folders[1]), data={"a": "1"})),
        "the data files by SHA-256",
    ),
    "another kind": (second(shards.change, kind="soak"), "the kind"),
    "another load": (
        second(properties, schedule="rate(9/sec) random_arrivals(22 sec)"),
        "the property schedule of visits",
    ),
    "a property more": (second(properties, think="5"), "the propert"),
    "another service": (
        second(of_execution, url="http://127.0.0.1:8081"),
        "the service of visits",
    ),
}
REFUSED = {
    "missing": (lambda folders: folders.pop(1), r"engine 2/3 is missing"),
    "doubled": (
        lambda folders: folders.append(copied(folders[1])),
        r"engine 2/3 \(.*\) is there twice",
    ),
    "of another number of engines": (
        lambda folders: shards.change(folders[2], share=dict(share(folders[2]), of=4)),
        r"engine 3/4 \(.*\) is no share of the load of engine 1/3 \(.*\): the number of engines",
    ),
    "interrupted": (
        second(shards.change, interrupted=True),
        r"engine 2/3 \(.*\) is not sealed",
    ),
    "broken off": (
        second(shards.change, problem="the disk was full"),
        r"engine 2/3 \(.*\) is not sealed: the disk was full",
    ),
    "with the samples of another": (
        lambda folders: of_execution(folders[1], sha256=sha256(folders[0])),
        r"engine 2/3 \(.*\) has the samples of engine 1/3 \(.*\): sha256 of visits is \w{64} ",
    ),
    "without a regular end": (
        second(of_execution, exit_code=None),
        r"engine 2/3 \(.*\) has no regular end: exit_code of visits is null in run\.json; run ",
    ),
    "without its seal": (second(of_execution, sha256=None), r"engine 2/3 \(.*\) is not sealed"),
    "of a whole load": (second(shards.change, share=None), r"share-2 holds no share of a load"),
    "of apps of its own machine": (
        second(of_execution, targets=[{"name": "nap", "mode": "fork", "instances": 1}]),
        r"engine 2/3 \(.*\) .* PM2",
    ),
    "changed": (
        lambda folders: (folders[1] / "kpi.jtl").write_text("x"),
        r"engine-2/kpi\.jtl has changed",
    ),
    **{
        f"of {name}": (change, rf"engine 2/3 \(.*\) is no share .*: {re.escape(named)}")
        for name, (change, named) in OTHERS.items()
    },
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_share_that_does_not_belong_is_refused_in_one_line_with_its_name(
    fault, three, merge, capsys, tmp_path
):
    spoil, expected = REFUSED[fault]
    spoil(three)
    code, verdict = merge(*three)
    said = capsys.readouterr().err
    assert code == 1
    assert verdict is None
    assert re.search(expected, said)
    assert said.count("\n") == 1
    assert not (tmp_path / "merged").exists()


def test_a_folder_within_a_share_is_refused(three, monkeypatch, capsys):
    assert call(monkeypatch, "merge", *three, "--to", three[0] / "merged") == 1
    assert "lies in the folder of a share" in capsys.readouterr().err
    assert not (three[0] / "merged").exists()


def test_a_folder_that_is_there_is_left_alone(three, merge, tmp_path, capsys):
    (tmp_path / "merged").mkdir()
    (tmp_path / "merged" / "mine").write_text("")
    assert merge(*three)[0] == 1
    assert "is there already" in capsys.readouterr().err
    assert (tmp_path / "merged" / "mine").exists()


@pytest.mark.parametrize(("later_ms", "code"), [(1500, 0), (30_000, 1), (6_000, 1)])
def test_engines_that_did_not_measure_together_are_invalid(merge, tmp_path, later_ms, code):
    folders = [
        shards.make(tmp_path / "share-1", 1, 2),
        shards.make(tmp_path / "share-2", 2, 2, later_ms=later_ms),
    ]
    found, verdict = merge(*folders)
    assert found == code
    assert verdict["verdict"] == ("INVALID" if code else "PASS")
    told = [it["text"] for it in verdict["reasons"]]
    assert any("engine 2/2 began to measure" in it and "engine 1/2" in it for it in told) == bool(
        code
    )


def test_an_engine_that_sent_too_little_makes_the_run_invalid_by_its_name(merge, tmp_path):
    folders = [
        shards.make(tmp_path / "share-1", 1, 2),
        shards.make(tmp_path / "share-2", 2, 2, without=slice(200, 240)),
    ]
    code, verdict = merge(*folders)
    assert (code, verdict["verdict"]) == (1, "INVALID")
    assert any(
        "engine 2/2: 40 of 550 scheduled requests of visit were not sent" in it["text"]
        for it in verdict["reasons"]
    )
    assert not any("engine 1/2:" in it["text"] for it in verdict["reasons"])


def test_a_share_that_changed_after_the_merge_is_refused(
    merge, three, monkeypatch, tmp_path, capsys
):
    merge(*three)
    shards.change(tmp_path / "merged" / "engine-2", kind="soak")
    assert call(monkeypatch, "judge", tmp_path / "merged") == 1
    assert "has changed since the shares were merged" in capsys.readouterr().err


def test_a_sealed_share_exits_0_without_a_verdict_that_gates(three, monkeypatch, capsys):
    assert call(monkeypatch, "judge", three[1], "--json") == 0
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["verdict"], verdict["exit_code"]) == ("INCONCLUSIVE", 0)
    assert "engine 2/3" in verdict["reasons"][0]["text"]
    assert verdict["executions"][0]["criteria"] == []


def test_a_share_that_did_not_come_to_its_end_exits_as_a_run_does(three, monkeypatch, capsys):
    shards.change(three[1], interrupted=True)
    assert call(monkeypatch, "judge", three[1], "--json") == 2
    assert json.loads(capsys.readouterr().out)["verdict"] == "INVALID"
