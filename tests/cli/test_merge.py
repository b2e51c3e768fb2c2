"""`tollgate merge`: the shares of a load as one run."""

import json
import re
import shutil
import xml.etree.ElementTree as ET

import jsonschema
import numpy as np
import pytest

from support import ROOT, shards
from tollgate.record import manifest

OF = 3
SCHEMA = ROOT / "scripts" / "tollgate" / "report" / "verdict.schema.json"


@pytest.fixture
def merge(tollgate, tmp_path):
    """Merges folders; gives the exit code and the content of verdict.json."""

    def run(*folders):
        code, _, _ = tollgate("merge", *folders, "--to", tmp_path / "merged")
        return code, json.loads((tmp_path / "merged" / "verdict.json").read_text())

    return run


def made(tmp_path, of=OF, last=None, **changes):
    """The folders of the shares of a load. last: changes to the last one alone."""
    own = {of: last or {}}
    every = range(1, of + 1)
    return [shards.make(tmp_path / f"share-{k}", k, of, **changes, **own.get(k, {})) for k in every]


@pytest.fixture
def three(tmp_path):
    return made(tmp_path)


def concatenated(folders):
    """Times of all judged samples, straight from the JTLs: start since the share's own, elapsed."""
    jtls, until = (folder / "kpi.jtl" for folder in folders), shards.WARMUP_S + shards.MEASURED_S
    columns = {"delimiter": ",", "skip_header": 1, "usecols": (0, 1, -1), "dtype": int}
    rows = np.concatenate([np.genfromtxt(jtl, **columns) for jtl in jtls])
    second = (rows[:, 0] - rows[:, 2]) // 1000
    return np.sort(rows[(second >= shards.WARMUP_S) & (second < until), 1])


def test_counts_and_every_percentile_are_those_of_the_concatenated_samples(merge, tmp_path):
    percents = (1, 5, 25, 50, 75, 90, 95, 99, 99.9)
    criteria = [f"p{p:g} of visit>10s" for p in percents]
    given = {"rate": 300, "criteria": (*criteria, "hits of visit<1", "avg-lt of visit>5s")}
    each = [(tmp_path / f"share-{k}", k) for k in range(1, 8)]
    folders = [shards.make(folder, k, 7, later_ms=137 * k, **given) for folder, k in each]
    for folder in folders:
        # Service times, so that what is judged is what the files hold.
        shards.change(folder, settings={"latency": "service"})
    (execution,) = merge(*folders)[1]["executions"]
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
    known = manifest.read(ROOT / "tests/archive/check-pass").environment
    jsonschema.validate({**verdict, "environment": known}, json.loads(SCHEMA.read_text()))
    assert execution["schedules"] == []
    assert [it["name"] for it in execution["engines"]] == ["1/3", "2/3", "3/3"]
    intended = [it["schedules"][0]["intended"] for it in execution["engines"]]
    assert sum(intended) == 50 * (shards.WARMUP_S + shards.MEASURED_S)
    assert all(it["schedules"][0]["missing_generator"] == 0 for it in execution["engines"])


def test_a_merged_run_leaves_a_record_in_its_own_folder_alone(merge, three, tmp_path):
    merge(*three)
    record = json.loads((tmp_path / "merged" / "history.jsonl").read_text())
    assert record["id"] == manifest.digest(tmp_path / "merged" / "run.json")
    assert not (tmp_path / "history").exists()


def test_a_merged_folder_is_judged_again_alike(merge, three, tollgate, tmp_path):
    merge(*three)
    merged = tmp_path / "merged"
    assert tollgate("judge", merged, "--json")[:2] == (0, (merged / "verdict.json").read_text())
    assert tollgate("judge", merged, "--criterion", "p50 of visit>10ms")[0] == 3
    assert tollgate("report", merged)[0] == 0


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
    folders = made(tmp_path, 2, criteria=("p50 of visit>10ms",))
    code, verdict = merge(*folders)
    assert (code, verdict["verdict"]) == (3, "FAIL")
    (criterion,) = verdict["executions"][0]["criteria"]
    assert criterion["samples"] == len(concatenated(folders))


def of_share(folder, **fields):
    shards.change(folder, share=manifest.read(folder).share | fields)


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


PLANS = {"plans": {"visits.jmx": "2"}, "commit": "c0ffee"}
LOAD = "rate(9/sec) random_arrivals(22 sec)"
#: What makes engine 2 no share of the same load, and what the refusal names.
OTHERS = {
    "another length": (second(of_execution, measured=25.0), "measured of visits is 25.0 there and"),
    "another plan": (second(shards.change, environment=PLANS), "the plan files by SHA-256"),
    "another commit": (second(shards.change, environment={"commit": "beef"}), "the commit"),
    "other criteria": (second(shards.change, criteria=["fail>5%"]), "the criteria"),
    "other data": (second(of_share, data={"a": "1"}), "the data files by SHA-256"),
    "another kind": (second(shards.change, kind="soak"), "the kind"),
    "another load": (second(properties, schedule=LOAD), "the property schedule of visits"),
    "a property more": (second(properties, think="5"), "the propert"),
    "another service": (second(of_execution, url="http://a:8081"), "the service of visits"),
}
REFUSED = {
    "missing": (lambda folders: folders.pop(1), r"engine 2/3 is missing"),
    "doubled": (
        lambda folders: folders.append(shutil.copytree(folders[1], f"{folders[1]}-again")),
        r"engine 2/3 \(.*\) is there twice",
    ),
    "of another number of engines": (
        lambda folders: of_share(folders[2], of=4),
        r"engine 3/4 \(.*\) is no share of the load of engine 1/3 \(.*\): the number of engines",
    ),
    "interrupted": (second(shards.change, interrupted=True), r"engine 2/3 \(.*\) is not sealed"),
    "broken off": (
        second(shards.change, problem="the disk was full"),
        r"engine 2/3 \(.*\) is not sealed: the disk was full",
    ),
    "with the samples of another": (
        lambda them: of_execution(them[1], sha256=manifest.read(them[0]).executions[0].sha256),
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
    fault, three, refusal, tmp_path
):
    spoil, expected = REFUSED[fault]
    spoil(three)
    assert re.search(expected, refusal("merge", *three, "--to", tmp_path / "merged"))
    assert not (tmp_path / "merged").exists()


def test_a_folder_within_a_share_is_refused(three, refusal):
    within = three[0] / "merged"
    assert "lies in the folder of a share" in refusal("merge", *three, "--to", within)
    assert not within.exists()


def test_a_folder_that_is_there_is_left_alone(three, refusal, tmp_path):
    (tmp_path / "merged").mkdir()
    (tmp_path / "merged" / "mine").touch()
    assert "is there already" in refusal("merge", *three, "--to", tmp_path / "merged")
    assert (tmp_path / "merged" / "mine").exists()


@pytest.mark.parametrize(("later_ms", "code"), [(1500, 0), (30_000, 4), (6_000, 4)])
def test_engines_that_did_not_measure_together_are_invalid(merge, tmp_path, later_ms, code):
    found, verdict = merge(*made(tmp_path, 2, {"later_ms": later_ms}))
    assert (found, verdict["verdict"]) == (code, "INVALID" if code else "PASS")
    told = [it["text"] for it in verdict["reasons"]]
    named = [it for it in told if "engine 2/2 began to measure" in it and "engine 1/2" in it]
    assert bool(named) == bool(code)


def test_an_engine_that_sent_too_little_makes_the_run_invalid_by_its_name(merge, tmp_path):
    code, verdict = merge(*made(tmp_path, 2, {"without": slice(200, 240)}))
    assert (code, verdict["verdict"]) == (4, "INVALID")
    told = "\n".join(it["text"] for it in verdict["reasons"])
    assert "engine 2/2: 40 of 550 scheduled requests of visit were not sent" in told
    assert "engine 1/2:" not in told


def test_a_share_that_changed_after_the_merge_is_refused(merge, three, refusal, tmp_path):
    merge(*three)
    shards.change(tmp_path / "merged" / "engine-2", kind="soak")
    assert "has changed since the shares were merged" in refusal("judge", tmp_path / "merged")


def test_a_sealed_share_exits_0_without_a_verdict_that_gates(three, tollgate):
    code, out, _ = tollgate("judge", three[1], "--json")
    verdict = json.loads(out)
    assert (code, verdict["verdict"], verdict["exit_code"]) == (0, "INCONCLUSIVE", 0)
    assert "engine 2/3" in verdict["reasons"][0]["text"]
    assert verdict["executions"][0]["criteria"] == []


def test_a_share_that_did_not_come_to_its_end_exits_as_a_run_does(three, tollgate):
    shards.change(three[1], interrupted=True)
    code, out, _ = tollgate("judge", three[1], "--json")
    assert (code, json.loads(out)["verdict"]) == (2, "INVALID")


def test_nothing_that_a_share_links_to_gets_into_the_run(merge, three, tmp_path):
    secret = tmp_path / "home"
    secret.mkdir()
    (secret / "key").write_text("s3cret")
    (three[0] / "more").symlink_to(secret)
    (three[1] / "key.txt").symlink_to(secret / "key")
    assert merge(*three)[0] == 0
    within = (it for it in (tmp_path / "merged").rglob("*") if it.is_file() and not it.is_symlink())
    assert not [it for it in within if b"s3cret" in it.read_bytes()]
