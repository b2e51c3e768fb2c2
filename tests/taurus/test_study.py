"""The service `study`, without Taurus's engine."""

import json
import logging
import subprocess
import sys
from types import SimpleNamespace

import pytest
from bzt import TaurusConfigError, ToolError
from bzt.engine.dicts import Configuration
from bzt.utils import BetterDict

from support.jtl_text import lines
from support.study_jtl import Sent, load, write
from tollgate.base import did_you_mean
from tollgate.base.paths import ROOT
from tollgate.run import manifest
from tollgate.study import record as study_run
from tollgate.study.design import read_blocks, read_design, rounds, seconds_of
from tollgate.study.lengths import lengthened, warmed
from tollgate.study.samples import read_spans
from tollgate.study.settings import labels_of
from tollgate.study.windows import CONNECT
from tollgate.targets import pm2
from tollgate.taurus import study
from tollgate.taurus.load import ModeError, chosen_modes
from tollgate.taurus.study import Study
from tollgate.taurus.verdict import Ruling

DESIGN = str(ROOT / "data" / "study.csv")
HERE = "9.0.0"  # autocannon
APPS = pm2.declared_apps()
HEADER = "timeStamp,elapsed,label,success,block\n"


def kind(name="study"):
    """taurus.yml as Taurus merges it with one of its aliases."""
    config = Configuration()
    config.load([str(ROOT / "taurus.yml")])
    config.merge(config["cli-aliases"][name])
    return config


@pytest.fixture
def service(monkeypatch, tmp_path, caplog):
    """Makes the service over a configuration; it has not been prepared."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(study.pm2, "declared_apps", lambda: APPS)
    monkeypatch.setattr(study.crosscheck, "installed_version", lambda: HERE)
    for name in ("RELOAD_EVERY", *study.settings.ENVIRONMENT):
        monkeypatch.delenv(name, raising=False)

    def make(config=None, **settings):
        made = Study()
        made.log = logging.getLogger("study")
        made.settings = BetterDict.from_dict({"class": "x", "design": DESIGN, **settings})
        executor = SimpleNamespace(process=None, kpi_jtl=str(tmp_path / "kpi.jtl"))
        made.engine = SimpleNamespace(
            config=config or kind(),
            artifacts_dir=str(tmp_path),
            provisioning=SimpleNamespace(executors=[executor]),
            stopping_reason=None,
        )
        return made

    return make


@pytest.fixture
def prepared(service):
    def prepare(*arguments, **settings):
        made = service(*arguments, **settings)
        made.prepare()
        return made

    return prepare


@pytest.fixture
def running():
    """A process that stands for JMeter; ends when its standard input does."""
    program = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(program, stdin=subprocess.PIPE) as process:
        yield process


def scenario(made):
    return made.engine.config["scenarios"]["study"]


def test_a_kind_without_a_design_is_no_study(service, tmp_path):
    made = service(kind("stress"))
    del made.settings["design"]
    before = json.dumps(made.engine.config)
    made.prepare()
    made.check()
    made.shutdown()
    made.post_process()
    assert made.position(made.engine.provisioning.executors[0]) is None
    assert json.dumps(made.engine.config) == before
    assert list(tmp_path.iterdir()) == []


def test_the_plan_gets_the_warm_up_of_the_whole_design(prepared, tmp_path):
    made = prepared()
    properties = scenario(made)["properties"]
    assert properties["blocks"] == str(tmp_path / "blocks.csv")
    assert properties["warm_up_blocks"] == len(made.blocks)
    assert properties["warm_up_record"] == str(tmp_path / "warm-up.json")
    assert read_blocks(tmp_path / "blocks.csv") == made.blocks
    assert {block.round for block in made.blocks} == {0}
    assert {block.cell for block in made.blocks} == set(read_design(DESIGN))
    assert properties["users"] == max(block.cell.users for block in made.blocks)
    assert properties["crosscheck_folder"] == str(tmp_path / "crosscheck")
    assert (tmp_path / "crosscheck").is_dir()


def test_every_app_that_a_block_asks_becomes_a_target(prepared):
    compared = ("base", "head")  # those of the kind `compare`
    assert scenario(prepared())["target"] == [it for it in APPS if not it.startswith(compared)]
    some = scenario(prepared(experiments="kittens"))
    assert some["target"] == ["fork", "cluster"]


def test_the_report_finds_how_the_run_was_set_up(prepared, tmp_path):
    prepared(experiments="pi,kittens", rounds=9, seed=5)
    assert study_run.read(tmp_path) == study_run.StudyRun(
        DESIGN, 5, False, 9, ("kittens", "pi"), ()
    )


def test_the_same_seed_gives_the_same_order_and_another_one_another(prepared):
    assert prepared(seed=5).blocks == prepared(seed=5).blocks != prepared(seed=6).blocks


def test_a_person_is_told_what_comes_and_how_long_it_takes(prepared, caplog):
    made = prepared(experiments="kittens")
    said = f"Study: a warm-up of {len(made.blocks)} blocks of kittens, in random order (seed 21)"
    assert said in caplog.text
    assert "intervals" not in caplog.text


def test_a_smoke_says_that_it_answers_nothing(prepared, caplog):
    made = prepared(short=True)
    assert {block.round for block in made.blocks} == {1}
    assert scenario(made)["properties"]["warm_up_blocks"] == 0
    assert "1 round(s), and intervals and answers to claims need 8" in caplog.text


def test_a_missing_tool_is_a_warning_and_stands_in_the_run(prepared, monkeypatch, caplog, tmp_path):
    monkeypatch.setattr(study.crosscheck, "installed_version", lambda: None)
    made = prepared()
    assert "study: autocannon is not installed" in caplog.text
    assert len(study_run.read(tmp_path).left_out) == 1
    assert "autocannon" not in {block.cell.arm for block in made.blocks}


def test_nothing_left_to_measure_is_refused(service, monkeypatch):
    monkeypatch.setattr(study.crosscheck, "installed_version", lambda: None)
    with pytest.raises(TaurusConfigError, match=r"nothing is left to measure: .*not installed"):
        service(experiments="crosscheck").prepare()


@pytest.mark.parametrize("name", ["LOG_REQUESTS", "USE_CHILD_PROCESSES", "PI_POINTS"])
def test_the_caller_cannot_change_the_arms(service, monkeypatch, name):
    monkeypatch.setenv(name, "true")
    with pytest.raises(TaurusConfigError, match=f"^study: {name} is 'true'.*: unset it$"):
        service().prepare()


def test_reloads_are_refused(service, monkeypatch):
    config = kind()
    config["modules"]["targets"]["reload-every"] = "20s"
    with pytest.raises(TaurusConfigError, match=r"^study: RELOAD_EVERY or .*: leave reloads out$"):
        service(config).prepare()
    monkeypatch.setenv("RELOAD_EVERY", "20s")
    with pytest.raises(TaurusConfigError, match="RELOAD_EVERY"):
        service().prepare()


def test_a_mode_is_none_of_the_executions_of_a_study():
    with pytest.raises(ModeError, match=r"MODE is 'fork', .* known are study, both"):
        chosen_modes("fork", ["study"], 0, "cluster")


def test_several_executions_are_refused(service):
    config = kind()
    config["execution"].append(BetterDict.from_dict({"scenario": "fork"}))
    with pytest.raises(TaurusConfigError, match=r"in one execution, .* has: study, fork"):
        service(config).prepare()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"seeds": 3}, did_you_mean("seeds", study.SETTINGS)),
        ({"rounds": "many"}, "rounds is 'many': write"),
        ({"experiments": "sums"}, "experiments names 'sums': did you mean 'sum'"),
        ({"design": "data/no-such.csv"}, "data/no-such.csv"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(service, settings, said):
    with pytest.raises(TaurusConfigError, match=r"^study: ") as refused:
        service(**settings).prepare()
    assert said in str(refused.value)


def test_an_ecosystem_that_cannot_be_loaded_is_one_line(service, monkeypatch):
    def broken():
        raise pm2.Pm2Error("ecosystem.config.js can't be loaded: SyntaxError")

    monkeypatch.setattr(study.pm2, "declared_apps", broken)
    with pytest.raises(ToolError, match=r"^study: ecosystem.config.js can't be loaded"):
        service().prepare()


def test_the_alias_has_one_execution_and_a_criterion_for_every_label():
    config = kind()
    assert [each["scenario"] for each in config["execution"]] == ["study"]
    assert [each["module"] for each in config["reporting"]] == ["verdict", "passfail"]
    services = [each["module"] for each in config["services"]]
    assert services.index("load") < services.index("study") < services.index("targets")
    properties = config["modules"]["jmeter"]["properties"]
    assert (properties["warmup"], properties["measured"]) == (0, 0)
    assert properties["sample_variables"].split(",")[1:] == ["block", "worker", "server"]
    assert config["modules"]["verdict"]["kind"] == "study"
    criteria = config["reporting"][1]["criteria"]
    assert criteria == [f"fail of {label}>0%" for label in in_order(labels_of(read_design(DESIGN)))]


def in_order(labels):
    experiments = dict.fromkeys(cell.experiment for cell in read_design(DESIGN))
    return ["connect", *experiments, *(labels - experiments.keys())]


def test_other_kinds_have_no_design():
    for name in ("stress", "load", "soak"):
        assert "design" not in kind(name)["modules"]["study"]


def test_criteria_on_what_does_not_run_are_left_out(prepared):
    config = prepared(experiments="kittens,pi").engine.config
    kept = ["fail of connect>0%", "fail of kittens>0%", "fail of pi>0%"]
    assert config["reporting"][1]["criteria"] == kept


def test_cpu_time_is_recorded_from_the_start_of_jmeter_to_its_end(
    prepared, running, tmp_path, monkeypatch
):
    monkeypatch.setattr(study.pm2, "daemon_pid", lambda: running.pid)
    made = prepared()
    made.check()
    assert made.recorder is None
    made._executor().process = running
    made.check()
    recorder = made.recorder
    made.check()
    assert made.recorder is recorder is not None
    running.stdin.close()
    running.wait()
    made.check()
    assert made.recorder is None
    made.check()
    made.shutdown()
    lines = (tmp_path / "cpu.jsonl").read_text().splitlines()
    assert len(lines) >= 2
    assert {"time", "generator", "service", "idle", "cores"} == json.loads(lines[-1]).keys()


def test_an_interruption_ends_the_record_too(prepared, running, monkeypatch):
    monkeypatch.setattr(study.pm2, "daemon_pid", lambda: running.pid)
    made = prepared()
    made._executor().process = running
    made.check()
    made.engine.stopping_reason = KeyboardInterrupt()
    made.shutdown()
    assert made.recorder is None


def test_without_a_daemon_the_study_goes_on_and_says_so(prepared, running, monkeypatch, caplog):
    monkeypatch.setattr(study.pm2, "daemon_pid", lambda: None)
    made = prepared()
    made._executor().process = running
    made.check()
    assert "study: CPU time is not recorded" in caplog.text


def samples(tmp_path, *numbers):
    rows = (f"1700000000000,5,pi,true,{number}\n" for number in numbers)
    (tmp_path / "kpi.jtl").write_text(HEADER + "".join(rows))


def test_progress_is_told_the_block_under_way(prepared, tmp_path):
    made = prepared()
    executor = made._executor()
    assert made.position(executor) is None
    samples(tmp_path, 1, 2, 3)
    assert f"; block 3 of {len(made.blocks)}, about " in made.position(executor)
    samples(tmp_path, len(made.blocks) + 1)  # no block of this run
    assert made.position(executor) is None


def test_a_plan_that_ends_before_its_last_block_is_an_error(prepared, tmp_path):
    made = prepared(short=True)
    last = len(made.blocks)
    samples(tmp_path, 1, last)
    made.shutdown()
    samples(tmp_path, 1, last - 1)
    with pytest.raises(ToolError, match=f"ended in block {last - 1} of {last}: see jmeter.log"):
        made.shutdown()


def test_a_plan_that_ends_with_the_warm_up_is_an_error(prepared, tmp_path):
    made = prepared()
    samples(tmp_path, 1, len(made.blocks))
    with pytest.raises(ToolError, match=f"of {len(made.blocks)} of the warm-up: see jmeter.log"):
        made.shutdown()


@pytest.fixture
def warmed_up(prepared, running, monkeypatch, tmp_path):
    """A study whose JMeter waits after a warm-up with such service times."""
    monkeypatch.setattr(study.pm2, "daemon_pid", lambda: running.pid)

    def make(mean_ms, **settings):
        made = prepared(**settings)
        *before, closing = made.blocks
        sent = load(before, mean_ms=mean_ms)
        ended_ms = max(it.start_ms + it.elapsed_ms for it in sent)
        connect = Sent(str(closing.number), ended_ms + 20, 3, label=CONNECT)
        last = lines([connect.fields], header="")
        with write(tmp_path, sent).open("ab") as opened:
            opened.write(last.lstrip())
        # The connects come last in the file, as they do in time.
        made._executor().process = running
        return made

    return make


def test_blocks_as_long_as_the_warm_up_says_follow_it(warmed_up, tmp_path, caplog):
    made = warmed_up(700, experiments="kittens")
    before, cells = made.blocks, made.cells
    made.check()
    planned = {block.cell.key: block.cell for block in made.blocks if block.round}
    longer = tuple(planned[cell.key] for cell in cells)
    assert read_blocks(tmp_path / "blocks.csv") == made.blocks
    assert made.blocks[: len(before)] == before
    assert made.blocks[len(before) :] == rounds(longer, 21, after=len(before))
    assert longer == lengthened(cells, warmed(before, read_spans(tmp_path / "kpi.jtl")))
    assert all(planned[cell.key].seconds > cell.seconds for cell in cells)
    record = json.loads((tmp_path / "warm-up.json").read_text())
    assert {(it["experiment"], it["arm"], it["users"]) for it in record["cells"]} == {*planned}
    assert record["load_s"] > seconds_of(made.blocks[len(before) :], made.takes)
    assert [it for it in caplog.records if it.levelname == "WARNING"] == []


def test_the_blocks_are_drawn_up_once(warmed_up, tmp_path):
    made = warmed_up(5, experiments="kittens")
    made.check()
    blocks, text = made.blocks, (tmp_path / "blocks.csv").read_text()
    made.check()
    assert made.blocks == blocks
    assert (tmp_path / "blocks.csv").read_text() == text


def test_nothing_is_drawn_up_before_the_warm_up_is_over(warmed_up, tmp_path):
    made = warmed_up(5, experiments="kittens")
    before = made.blocks
    samples(tmp_path, len(before) - 1)
    made.check()
    assert made.blocks == before
    assert not (tmp_path / "warm-up.json").exists()


def test_a_claim_that_no_block_can_answer_is_a_warning_before_the_load(warmed_up, caplog):
    made = warmed_up(200_000, experiments="kittens")
    made.check()
    warnings = [it.getMessage() for it in caplog.records if it.levelname == "WARNING"]
    assert {line.split(" can't")[0] for line in warnings} == {
        "study: kittens-baseline",
        "study: kittens-scaling",
    }


def test_a_warm_up_that_cannot_be_read_ends_the_run(warmed_up, tmp_path):
    made = warmed_up(5, experiments="kittens")
    samples(tmp_path, len(made.blocks))
    with pytest.raises(ToolError, match=r"^study: no blocks after the warm-up: .*kpi.jtl:1: "):
        made.check()
    assert not (tmp_path / "warm-up.json").exists()


def test_an_interrupted_plan_may_end_before_its_last_block(prepared, tmp_path):
    made = prepared()
    samples(tmp_path, 1)
    made.engine.stopping_reason = KeyboardInterrupt()
    made.shutdown()


def test_the_study_is_told_once_the_run_has_been_judged(prepared, tmp_path, monkeypatch, capsys):
    made, told = prepared(), []
    monkeypatch.setattr(study.report, "write", lambda run: told.append(run) or "a study")
    monkeypatch.setattr(study.report, "to_table", lambda it: f"table of {it}")
    made.post_process()
    assert told == []  # nothing ran: there is no run.json
    (tmp_path / manifest.NAME).write_text("{}")
    made.post_process()
    assert told == [tmp_path]
    assert "table of a study" in capsys.readouterr().out


def test_a_study_that_cannot_be_told_is_one_line_and_never_a_pass(
    prepared, tmp_path, monkeypatch, caplog
):
    def broken(_run):
        raise ValueError("kpi.jtl: block 7 overlaps block 8")

    made = prepared()
    (tmp_path / manifest.NAME).write_text("{}")
    monkeypatch.setattr(study.report, "write", broken)
    with pytest.raises(Ruling) as ruling:
        made.post_process()
    assert ruling.value.get_rc() == 1
    errors = [each.getMessage() for each in caplog.records if each.levelname == "ERROR"]
    assert errors == ["study: no report: kpi.jtl: block 7 overlaps block 8"]
