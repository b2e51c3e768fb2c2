"""What the service `study` makes of its configuration, before any load."""

import json
import sys

import pytest
from bzt import TaurusConfigError, ToolError
from bzt.utils import BetterDict

from support.study_kind import kind
from tollgate.base.paths import SUITE
from tollgate.study import record as study_run
from tollgate.study.design import read_blocks, read_design
from tollgate.study.settings import labels_of
from tollgate.targets import pm2
from tollgate.taurus import study
from tollgate.taurus.load import ModeError, chosen_modes

DESIGN = str(SUITE / "data" / "study.csv")


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
    assert properties["crosscheck_command"] == sys.executable
    assert properties["crosscheck_folder"] == str(tmp_path / "crosscheck")
    assert (tmp_path / "crosscheck").is_dir()


def test_every_app_that_a_block_asks_becomes_a_target(prepared):
    ours = [*pm2.declared_apps()]
    assert scenario(prepared())["target"] == ours
    assert scenario(prepared(experiments="kittens"))["target"] == ["fork", "cluster"]


def test_the_report_finds_how_the_run_was_set_up_and_a_person_is_told(prepared, tmp_path, caplog):
    made = prepared(experiments="pi,kittens", rounds=9, seed=5)
    assert study_run.read(tmp_path) == study_run.StudyRun(
        DESIGN, 5, False, 9, ("kittens", "pi"), ()
    )
    kept = ["fail of connect>0%", "fail of kittens>0%", "fail of pi>0%"]
    assert made.engine.config["reporting"][1]["criteria"] == kept
    made = prepared(experiments="kittens")
    said = f"Study: a warm-up of {len(made.blocks)} blocks of kittens, in random order (seed 21)"
    assert said in caplog.text
    assert "intervals" not in caplog.text


def test_the_same_seed_gives_the_same_order_and_another_one_another(prepared):
    assert prepared(seed=5).blocks == prepared(seed=5).blocks != prepared(seed=6).blocks


def test_a_smoke_says_that_it_answers_nothing(prepared, caplog):
    made = prepared(short=True)
    assert {block.round for block in made.blocks} == {1}
    assert scenario(made)["properties"]["warm_up_blocks"] == 0
    assert "1 round(s), and intervals and answers to claims need 8" in caplog.text


def test_a_missing_tool_is_a_warning_and_stands_in_the_run(
    service, prepared, monkeypatch, caplog, tmp_path
):
    monkeypatch.setattr(study.autocannon, "installed_version", lambda: None)
    made = prepared()
    assert "study: autocannon is not installed" in caplog.text
    assert len(study_run.read(tmp_path).left_out) == 1
    assert "autocannon" not in {block.cell.arm for block in made.blocks}
    with pytest.raises(TaurusConfigError, match=r"nothing is left to measure: .*not installed"):
        service(experiments="crosscheck").prepare()


def test_a_mode_is_none_of_the_executions_of_a_study():
    with pytest.raises(ModeError, match=r"MODE is 'fork', .* known are study, both"):
        chosen_modes("fork", ["study"], 0, "cluster")


RELOADING, SEVERAL = kind(), kind()
RELOADING["modules"]["targets"]["reload-every"] = "20s"
SEVERAL["execution"].append(BetterDict.from_dict({"scenario": "fork"}))


@pytest.mark.parametrize(
    ("variables", "settings", "said"),
    [
        *(
            ({name: "true"}, {}, f"{name} is 'true'.*: unset it$")
            for name in ("LOG_REQUESTS", "USE_CHILD_PROCESSES", "PI_POINTS")
        ),
        ({}, {"config": RELOADING}, "RELOAD_EVERY or .*: leave reloads out$"),
        ({"RELOAD_EVERY": "20s"}, {}, ".*RELOAD_EVERY"),
        ({}, {"config": SEVERAL}, ".*in one execution, .* has: study, fork"),
        ({}, {"seeds": 3}, ".*has the setting 'seeds', which does not exist: did you mean 'seed'"),
        ({}, {"rounds": "many"}, ".*rounds is 'many': write a whole number of 1 or more"),
        ({}, {"experiments": "sums"}, ".*experiments names 'sums': did you mean 'sum'"),
        ({}, {"design": "data/no-such.csv"}, ".*data/no-such.csv"),
    ],
)
def test_what_cannot_be_meant_is_refused(service, monkeypatch, variables, settings, said):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(TaurusConfigError, match=f"^study: {said}"):
        service(**settings).prepare()


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
    cells = read_design(DESIGN)
    experiments = dict.fromkeys(cell.experiment for cell in cells)
    labels = ["connect", *experiments, *(labels_of(cells) - experiments.keys())]
    assert config["reporting"][1]["criteria"] == [f"fail of {label}>0%" for label in labels]
    for name in ("stress", "load", "soak"):
        assert "design" not in kind(name)["modules"]["study"]
