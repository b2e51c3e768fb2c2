"""Several plans of a user's own in one run: their names, and what lies beside each."""

import pytest
from bzt import TaurusConfigError
from bzt.utils import BetterDict

from support import jmx_text as jmx
from taurus.test_own_plan import notes_of, prepared, refusal, service, unset  # noqa: F401
from tollgate.base.settings import SettingError
from tollgate.taurus.named_plans import named_plans, properties_of
from tollgate.taurus.shared import under_way

SHORT = jmx.plan(jmx.group(jmx.sampler("home"), loops=1, duration=None))


@pytest.fixture
def folder(tmp_path):
    """With the plans a/home.jmx, a/cart.jmx and b/home.jmx."""
    for name in ("a/home.jmx", "a/cart.jmx", "b/home.jmx"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(SHORT)
    return tmp_path


def executions(made):
    return [it["scenario"] for it in made.engine.config["execution"]]


def scenario(made, name):
    return made.engine.config["scenarios"][name]


def test_each_plan_of_a_pattern_has_an_execution_by_its_name(folder):
    (folder / "a" / "modified_home.jmx").write_text(SHORT)
    made = prepared(path=[str(folder / "a" / "*.jmx")])
    assert executions(made) == ["cart", "home"]
    assert scenario(made, "home")["script"] == str(folder / "a" / "home.jmx")


def test_plans_of_one_name_are_told_apart_by_their_folders(folder):
    paths = [str(folder / "*" / "home.jmx"), str(folder / "a" / "*.jmx")]
    assert [it.name for it in named_plans(paths, "plan")] == ["a-home", "b-home", "cart"]
    assert [it.name for it in named_plans(paths[:1], "plan")] == ["a-home", "b-home"]
    assert [it.name for it in named_plans([str(folder / "b" / "*")], "plan")] == ["plan"]


def test_a_name_is_one_that_a_folder_may_have(folder):
    (folder / "a" / "1: log in?.jmx").write_text(SHORT)
    names = [it.name for it in named_plans([str(folder / "a" / "*.jmx")], "plan")]
    assert names == ["1- log in-", "cart", "home"]


def test_criteria_beside_a_plan_are_its_own_and_others_have_the_default(folder):
    (folder / "a" / "home.criteria").write_text("# slow\np95 of home>300ms\n\nfail>1%\n")
    made = prepared(path=[str(folder / "a" / "*.jmx")])
    assert scenario(made, "home")["criteria"] == ["p95 of home>300ms", "fail>1%"]
    assert scenario(made, "cart")["criteria"] == ["fail>0%"]
    assert made.engine.config["reporting"][1]["criteria"] == []
    (note,) = under_way(made.engine).executions["cart"].notes
    assert "cart.criteria" in note
    assert under_way(made.engine).executions["home"].notes == []


def test_criteria_of_the_caller_go_before_those_beside_the_plans(folder, monkeypatch):
    (folder / "a" / "home.criteria").write_text("p95 of home>300ms")
    monkeypatch.setenv("CRITERIA", "fail>2%")
    made = prepared(path=[str(folder / "a" / "*.jmx")])
    assert {tuple(scenario(made, it)["criteria"]) for it in executions(made)} == {("fail>2%",)}


def test_an_only_plan_has_the_criteria_beside_it_too(folder):
    (folder / "b" / "home.criteria").write_text("fail>3%")
    made = prepared(path=str(folder / "b" / "home.jmx"))
    assert scenario(made, "plan")["criteria"] == ["fail>3%"]
    assert notes_of(made) == []


def test_criteria_of_a_windows_editor_are_read_and_of_an_unknown_character_set_refused(folder):
    beside = folder / "b" / "home.criteria"
    beside.write_bytes("p95 of Übersicht>300ms\r\n".encode("utf-8-sig"))
    made = prepared(path=str(folder / "b" / "home.jmx"))
    assert scenario(made, "plan")["criteria"] == ["p95 of Übersicht>300ms"]
    for charset in ("cp1252", "utf-16"):
        beside.write_bytes("p95 of Übersicht>300ms\n".encode(charset))
        told = refusal(path=str(folder / "b" / "home.jmx"))
        assert told == f"plan: {beside} is no UTF-8: save it as UTF-8"


def test_a_file_without_a_criterion_is_refused(folder):
    (folder / "b" / "home.criteria").write_text("# none yet\n")
    assert "holds no criterion" in refusal(path=str(folder / "b" / "home.jmx"))


def test_files_of_properties_are_read_as_jmeter_reads_them(folder):
    first, second = folder / "one.properties", folder / "two.properties"
    first.write_text("# of staging\nhost=a.example\nusers : 5\npath=\\u00e4\\\n  b\n", "latin-1")
    second.write_text("host=b.example\n")
    files = [str(first), str(second)]
    assert properties_of(files) == ({"host": "b.example", "users": "5", "path": "äb"}, [])
    made = prepared(**{"path": str(folder / "a" / "*.jmx"), "property-files": files})
    for name in executions(made):
        # What -o says, here 2 users, goes before.
        assert scenario(made, name)["properties"] == {"host": "b.example", "path": "äb"}
    with pytest.raises(SettingError, match="No such file"):
        properties_of([str(folder / "none.properties")])


def test_what_a_file_says_of_samples_is_left_out_and_told_and_of_what_the_plan_does_refused(folder):
    file = folder / "end.properties"
    file.write_text("sampleresult.timestamp.start=false\nusers=5\nsummariser.interval = 5\n")
    made = prepared(**{"path": str(folder / "b" / "home.jmx"), "property-files": [str(file)]})
    assert "properties" not in scenario(made, "plan")
    noted, _ = under_way(made.engine).executions["plan"].notes
    assert noted.startswith(f"{file}: sampleresult.timestamp.start=false, summariser.interval=5 is")
    file.write_text("timer.factor = 0.5\n")
    named = {"path": str(folder / "b" / "home.jmx"), "property-files": [str(file)]}
    assert refusal(**named).startswith(f"plan: {file}: timer.factor=0.5 has the plan do")


def test_several_plans_are_not_compared_at_a_time(folder, monkeypatch):
    monkeypatch.setenv("PLAN", str(folder / "a" / "*.jmx"))
    made = service()
    made.engine.config["modules"]["verdict"]["kind"] = "compare"
    made.engine.config["modules"]["compare"] = BetterDict.from_dict({"budget": "1m"})
    with pytest.raises(TaurusConfigError, match="take one"):
        made.prepare()
