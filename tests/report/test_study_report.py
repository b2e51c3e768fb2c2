"""From the folder of a run of the study to what it says."""

import json
from dataclasses import replace
from functools import partial

import pytest

from support import study_folder
from support.command import tollgate
from support.jtl_rows import START_MS
from tollgate.record.environment import fingerprint
from tollgate.record.manifest import ManifestError
from tollgate.report import dashboard
from tollgate.report import study as study_report
from tollgate.report.pages.run import write as run_page
from tollgate.study.design import warm_up, write_blocks
from tollgate.study.record import BLOCKS, CPU, NAME
from tollgate.study.settings import SLOWER


@pytest.fixture(scope="module")
def sent():
    """Every request of the run; making them takes longer than what is tested."""
    return study_folder.sent_in(study_folder.design())


@pytest.fixture
def content_of(tmp_path, sent):
    """Makes a run, and returns what study.json says of it."""

    def make(requests=sent, *args, **changes):
        study_report.write(study_folder.make(tmp_path, requests, *args, **changes))
        return json.loads((tmp_path / "study.json").read_text())

    return make


def claim(content, name):
    return next(it for it in content["claims"] if it["id"] == name)


def test_a_run_is_told_in_json_and_on_a_page_and_the_same_again(tmp_path, sent):
    study = study_report.write(study_folder.make(tmp_path, sent))
    content = json.loads((tmp_path / "study.json").read_text())
    found = claim(content, "sum-throughput")
    assert found["answer"] == "agrees"
    assert found["measured"]["value"] == pytest.approx(2, rel=0.05)
    assert [it["blocks"] for it in content["cells"]] == [study_folder.ROUNDS] * 2
    assert [it["arm"] for it in content["cells"]] == ["fork", "cluster"]
    assert {it["answer"] for it in content["claims"]} == {"agrees", "cannot tell"}
    assert "agrees" in study_report.to_table(study)
    run_page.write(tmp_path, study=study)
    assert ">Criteria</h2>" in (tmp_path / "index.html").read_text()
    assert study_report.write(tmp_path) == study


def test_a_worker_that_died_is_told_with_its_app_experiment_and_losses(content_of, sent):
    served = next(it for it in study_folder.design() if it.round == 2 and it.cell.arm == "cluster")
    began_ms = min(it.start_ms for it in sent if it.block == str(served.number))
    died_s = (began_ms - START_MS) / 1000 + 0.5
    content = content_of(sent, died_s)
    outage = content["outages"][0]
    named = {name: outage[name] for name in ("app", "worker", "pid", "lost", "experiment")}
    assert named == {"app": "cluster", "worker": "1", "pid": 40, "lost": 0, "experiment": "sum"}
    assert outage["from_s"] - 0.5 <= died_s <= outage["to_s"]  # JMeter began half a second before
    cluster = content["cells"][1]
    assert cluster["blocks"] < study_folder.ROUNDS
    assert "round 2: worker 1 of cluster died" in cluster["left_out"]
    found = claim(content, "sum-throughput")
    assert (found["answer"], "8 are needed" in found["reason"]) == ("cannot tell", True)


def test_a_failed_request_keeps_its_claim_open(content_of, sent):
    spoiled = [*sent]
    block = [place for place, it in enumerate(sent) if it.block == "9"]
    began = min(sent[place].start_ms for place in block)
    ends = {place: sent[place].start_ms + sent[place].elapsed_ms - began for place in block}
    inside = next(place for place, end in ends.items() if 400 < end < 800)
    spoiled[inside] = replace(sent[inside], ok=False)
    content = content_of(spoiled)
    assert sum(it["failed"] for it in content["cells"]) == 1
    assert claim(content, "sum-throughput")["answer"] == "cannot tell"


def test_without_cpu_figures_nobody_knows_the_bottleneck_and_nothing_is_answered(tmp_path, sent):
    study_folder.make(tmp_path, sent)
    (tmp_path / CPU).unlink()
    study_report.write(tmp_path)
    content = json.loads((tmp_path / "study.json").read_text())
    assert {it["bottleneck"]["who"] for it in content["cells"]} == {"unknown"}
    assert claim(content, "sum-throughput")["answer"] == "cannot tell"


def test_an_interrupted_run_tells_what_it_has(content_of, sent):
    until_ms = START_MS + 10_000
    kept = [it for it in sent if it.start_ms + it.elapsed_ms < until_ms]
    content = content_of(kept, interrupted=True, interrupted_at=until_ms / 1000)
    assert content["notes"][0].startswith("the run was interrupted")
    assert all(0 < it["blocks"] < study_folder.ROUNDS for it in content["cells"])
    found = claim(content, "sum-throughput")
    assert found["measured"]["value"] == pytest.approx(2, rel=0.2)
    assert found["answer"] == "cannot tell"


def test_a_run_that_was_interrupted_in_its_warm_up_has_measured_nothing(tmp_path, sent):
    first = warm_up(study_folder.CELLS, study_folder.SEED)
    kept = [it for it in sent if it.block in ("1", "2")]
    study_folder.make(tmp_path, kept, interrupted=True)
    write_blocks(tmp_path / BLOCKS, first, {"fork": 3001, "cluster": 3002})
    study_report.write(tmp_path)
    content = json.loads((tmp_path / "study.json").read_text())
    assert {it["blocks"] for it in content["cells"]} == {0}
    assert len(content["cells"]) == len(study_folder.CELLS)
    assert claim(content, "sum-throughput")["answer"] == "cannot tell"


def test_work_that_slowed_all_servers_stands_in_the_notes(tmp_path):
    environment = fingerprint() | {"cores": 2, "variables": {SLOWER: "150"}}
    study_folder.make(tmp_path, environment=environment)
    study_report.write(tmp_path)
    content = json.loads((tmp_path / "study.json").read_text())
    assert content["notes"][0].startswith(f"{SLOWER} is 150")


def test_samples_that_have_changed_since_are_refused(tmp_path, sent):
    study_folder.make(tmp_path, sent)
    with (tmp_path / "kpi.jtl").open("a") as jtl:
        jtl.write("\n")
    with pytest.raises(ManifestError, match="has changed since the run ended"):
        study_report.write(tmp_path)
    assert not (tmp_path / "study.json").exists()


@pytest.fixture
def report(monkeypatch):
    """Runs `tollgate report` without the dashboards."""
    monkeypatch.setattr(dashboard, "draw_all", lambda *_, **__: {})
    return partial(tollgate, "report")


def test_the_command_tells_an_archived_study_again(report, tmp_path, sent):
    study_folder.make(tmp_path, sent)
    code, out, err = report(tmp_path)
    assert (code, err) == (0, "")
    assert "sum-throughput" in out
    assert max(map(len, out.splitlines())) <= 120
    assert (tmp_path / "study.json").exists()


@pytest.mark.parametrize("name", [BLOCKS, NAME, CPU])
def test_a_file_of_the_study_that_is_broken_is_one_line(report, tmp_path, sent, name):
    study_folder.make(tmp_path, sent)
    (tmp_path / name).write_text("{\n")
    code, out, err = report(tmp_path)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("tollgate: ")
    assert name in err
