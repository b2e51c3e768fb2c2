"""`tollgate new target`: what it writes, where, and that it writes all of it or nothing."""

import csv
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import support
from support import plan_files
from tollgate.base.urls import Url
from tollgate.capacity.asked import check_plan
from tollgate.cli import cli
from tollgate.cli import new_target as command
from tollgate.cli.new_target import files
from tollgate.cli.new_target.files import NewTarget, NewTargetError, checked
from tollgate.criteria import grammar as criteria
from tollgate.plan import lint as plan_lint
from tollgate.plan.read import read_plan

SERVICE = Url("http", "127.0.0.1", 8080)
FOLDERS = ("app/targets", "data", "plans/fragments", "tests/app")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with what the command reads and changes, which it takes for ours."""
    for folder in FOLDERS:
        (tmp_path / folder).mkdir(parents=True)
    for file in (files.APP, files.CONFIG, files.SEARCH):
        shutil.copy(support.ROOT / file, tmp_path / file)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    return tmp_path


@pytest.fixture
def new_target(project, monkeypatch, capsys):  # noqa: ARG001 - it is the project that changes
    """Runs the command in this process: (exit code, standard output, standard error)."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tollgate", "new", "target", *words])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        return caught.value.code, *capsys.readouterr()

    return run


def files_of(project):
    return {
        str(path.relative_to(project)): path.read_text()
        for path in project.rglob("*")
        if path.is_file()
    }


def refusal(result):
    code, out, err = result
    assert (code, out) == (1, "")
    assert err.startswith("tollgate: ")
    assert err.count("\n") == 1
    return err


def test_a_target_of_ours_is_a_router_with_all_that_goes_with_it(new_target, project):
    code, out, _ = new_target("order-service")
    assert code == 0
    made = [
        *("plans/check-order-service.jmx", "plans/fragments/order-service.jmx"),
        *("data/order-service.csv", "app/targets/order-service.js"),
        "tests/app/order-service.test.js",
    ]
    changed = ["taurus.yml", "plans/capacity.jmx", "app/app.js"]
    assert [line.split() for line in out.splitlines()[:8]] == [
        *(["made", path] for path in made),
        *(["changed", path] for path in changed),
    ]
    assert "Run it: ./scripts/run -order-service" in out
    assert set(files_of(project)) == {*made, *changed}
    assert "meadow" not in "".join(files_of(project).values())


def test_a_service_of_somebody_else_needs_no_router(new_target, project):
    code, out, _ = new_target("shop", "--url", "http://127.0.0.1:8080", "--path", "/items?x=1")
    assert code == 0, out
    assert "app/app.js" not in out
    assert set(files_of(project)) == {
        *("plans/check-shop.jmx", "plans/fragments/shop.jmx", "data/shop.csv"),
        *("taurus.yml", "app/app.js", "plans/capacity.jmx"),
    }
    assert (project / "app/app.js").read_bytes() == (support.ROOT / "app/app.js").read_bytes()
    assert "/items?x=1&visitor=1,." in (project / "data/shop.csv").read_text()
    scenario = yaml.safe_load((project / "taurus.yml").read_text())["cli-aliases"]["shop"]
    assert scenario["scenarios"]["shop"]["url"] == "http://127.0.0.1:8080"


def test_the_capacity_of_a_new_target_can_be_searched(new_target, project):
    before = read_plan(support.ROOT / files.SEARCH, {})
    assert new_target("order-service")[0] == 0
    check_plan(project / files.SEARCH, ["order-service", "sum"], {})
    shutil.copytree(support.PLANS / "fragments", project / "plans/fragments", dirs_exist_ok=True)
    after = read_plan(project / files.SEARCH, {})
    assert {*after.labels} - {*before.labels} == {"order-service"}


def test_a_service_elsewhere_is_asked_there_by_its_plan_alone_too(new_target, project):
    words = ("--url", "https://shop.example:8443", "--path", "/a:")
    assert new_target("shop", *words)[0] == 0
    plan = (project / "plans/check-shop.jmx").read_text()
    for name, value in (("host", "shop.example"), ("port", 8443), ("protocol", "https")):
        assert f"${{__P({name},{value})}}" in plan
    scenario = yaml.safe_load((project / "taurus.yml").read_text())["cli-aliases"]["shop"]
    assert scenario["scenarios"]["shop"]["probes"][0]["path"] == "/a:"


@pytest.mark.parametrize("name", ["meadows", "meadow-target", "meadow"])
def test_a_name_that_holds_the_templates_word_is_written_as_it_is(name):
    router = files.new_files(NewTarget(name))[f"app/targets/{name}.js"]
    other = files.new_files(NewTarget("weather"))["app/targets/weather.js"]
    identifier = NewTarget(name).identifier
    assert router.replace(identifier, "weather").replace(name, "weather") == other


def test_what_would_break_taurus_yml_is_refused_in_one_line():
    with pytest.raises(NewTargetError, match="is no YAML") as caught:
        files.with_kind("cli-aliases:\n  load: {}\n", NewTarget("shop"), "  shop: a: b\n")
    assert "\n" not in str(caught.value)


def test_an_app_of_theirs_is_named_as_the_target(new_target, project):
    assert new_target("mine", "--app", "cluster")[0] == 0
    kind = yaml.safe_load((project / "taurus.yml").read_text())["cli-aliases"]["mine"]
    assert kind["scenarios"]["mine"]["target"] == "cluster"
    assert "ecosystem.config.js has no app 'nobody'; its apps are: fork, cluster" in refusal(
        new_target("other", "--app", "nobody")
    )


def test_taurus_yml_keeps_every_line_and_gains_a_kind(new_target, project):
    before = (support.ROOT / "taurus.yml").read_text()
    new_target("shop", "--url", "http://127.0.0.1:8080")
    new_target("order-service")
    after = (project / "taurus.yml").read_text()
    assert after.startswith(before.rstrip())
    kinds = yaml.safe_load(after)["cli-aliases"]
    assert [*kinds] == [*yaml.safe_load(before)["cli-aliases"], "shop", "order-service"]
    for name in ("shop", "order-service"):
        assert kinds[name]["modules"]["verdict"]["kind"] == name
    assert [each["scenario"] for each in kinds["order-service"]["~~execution"]] == [
        *("fork", "cluster")
    ]


@pytest.mark.parametrize("remote", [None, SERVICE], ids=["router", "service"])
def test_the_plan_is_clean_and_has_the_labels_that_the_criteria_are_about(tmp_path, remote):
    target = NewTarget("order-service", remote)
    for folder in FOLDERS:
        (tmp_path / folder).mkdir(parents=True)
    files.write(tmp_path, files.new_files(target), {})
    path = tmp_path / "plans/check-order-service.jmx"
    assert plan_lint.lint(path, {}) == []
    plan = read_plan(path, {})
    assert plan.labels == ("order-service",)
    (sampler,) = plan.groups[0].samplers
    assert sampler.arrival_timers[0].replay.rate == 10
    kind = yaml.safe_load(files.alias(target))["order-service"]
    stated = criteria.parse_all(kind["~~reporting"][1]["criteria"], plan.labels)
    assert {each.label for each in stated} == {"order-service"}
    fragment = tmp_path / "plans/fragments/order-service.jmx"
    rows = (tmp_path / "data/order-service.csv").read_text().splitlines()
    assert set(rows[0].split(",")) == plan_files.variables_used(fragment)
    assert len(set(rows[1:])) == files.ROWS


def test_the_patterns_of_a_routers_answers_take_the_right_one_alone():
    text = files.new_files(NewTarget("order-service"))["data/order-service.csv"]
    for row in csv.DictReader(text.splitlines()):
        n = int(row["path"].removeprefix("/order-service/"))
        answers = [(n, n * n), (n, n * n + 1), (10 * n, n * n), (n, 10 * n * n)]
        bodies = [f'{{"n":{n},"square":{square}}}' for n, square in answers]
        matches = [bool(re.search(row["answer"], body)) for body in bodies]
        assert matches == [True, False, False, False]


def test_a_new_targets_router_passes_the_test_that_comes_with_it(tmp_path):
    # In a copy: the test finds its server by its own place.
    for name in ("app", "tests/app/support"):
        shutil.copytree(support.ROOT / name, tmp_path / name)
    for name in ("plans/fragments", "data"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("package.json", "taurus.yml", files.SEARCH):
        shutil.copy(support.ROOT / name, tmp_path / name)
    (tmp_path / "node_modules").symlink_to(support.ROOT / "node_modules")
    for target in (NewTarget("order-service"), NewTarget("weather")):
        changed = files.changed_files(target, tmp_path)
        files.write(tmp_path, files.new_files(target), changed)
    tests = [f"tests/app/{name}.test.js" for name in ("order-service", "weather")]
    done = support.run("node", "--test", *tests, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_what_is_generated_passes_the_linters(tmp_path):
    for name in ("eslint.config.js", ".prettierrc.json", "package.json"):
        shutil.copy(support.ROOT / name, tmp_path / name)
    (tmp_path / "node_modules").symlink_to(support.ROOT / "node_modules")
    for folder in FOLDERS:
        (tmp_path / folder).mkdir(parents=True)
    longest = NewTarget("a-name-of-a-target-as-long-as-one-can-be")
    for target in (NewTarget("ab"), longest):
        text = (support.ROOT / files.APP).read_text()
        new = files.new_files(target)
        files.write(tmp_path, new, {})
        (tmp_path / f"app/{target.name}-app.js").write_text(files.mounted(text, target))
    for tool in (["eslint", "--max-warnings", "0", "."], ["prettier", "--check", "**/*.js"]):
        done = subprocess.run(
            [str(support.ROOT / "node_modules" / ".bin" / tool[0]), *tool[1:]],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name", ["", "a", "Shop", "my shop", "shop.eu", "../shop", "1st", "a--b", "a-", "ü", "x" * 41]
)
def test_a_name_that_would_break_a_file_a_label_or_a_property_is_refused(name, new_target, project):
    before = files_of(project)
    assert "is no name for a target" in refusal(new_target(name))
    assert files_of(project) == before


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("stress", "taurus.yml has a kind 'stress' already"),
        ("plan", "taurus.yml has a kind 'plan' already"),
        ("latest", "is taken by Tollgate itself"),
        ("check", "is taken by Tollgate itself"),
        ("fork", "taurus.yml has a scenario 'fork' already"),
        ("cloud", "Taurus has a kind 'cloud' of its own"),
        ("install-tools", "Taurus has a kind 'install-tools' of its own"),
        ("off", "'off' means something else in YAML"),
        ("express", "would be express in app/app.js, where that is taken"),
        ("class", "would be class in app/app.js, where that is taken"),
        ("health", "would be health in app/app.js, where that is taken"),
        ("calculate", "would be calculate in app/app.js, where that is taken"),
    ],
)
def test_a_name_that_is_taken_is_refused(name, said, new_target, project):
    before = files_of(project)
    assert said in refusal(new_target(name))
    assert files_of(project) == before


def test_a_file_that_is_there_is_never_written_over(new_target, project):
    mine = project / "data" / "shop.csv"
    mine.write_text("mine\n")
    before = files_of(project)
    said = refusal(new_target("shop", "--url", "http://127.0.0.1:8080"))
    assert "data/shop.csv is there already" in said
    assert files_of(project) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["shop", "--url", "shop.example"], "has url 'shop.example': write protocol, host"),
        (["shop", "--url", "http://a", "--path", "items"], "'items' is no path"),
        (["shop", "--path", "/items"], "--path is for a service of yours"),
        (["shop", "--url", "http://a", "--app", "fork"], "not allowed with argument"),
        ([], "the following arguments are required: name"),
    ],
)
def test_what_can_not_be_made_is_refused_in_one_line(words, said, new_target, project):
    before = files_of(project)
    assert said in refusal(new_target(*words))
    assert files_of(project) == before


@pytest.mark.parametrize("broken", ["data", "plans/fragments"])
def test_where_one_file_can_not_be_written_none_is(broken, new_target, project):
    (project / broken).rmdir()
    before = files_of(project)
    said = refusal(new_target("shop", "--url", "http://127.0.0.1:8080"))
    assert said.startswith("tollgate: nothing was made: ")
    assert files_of(project) == before


def test_where_the_last_file_can_not_be_put_in_its_place_none_is(project, monkeypatch):
    target = NewTarget("shop", SERVICE)
    before = files_of(project)
    replace = Path.replace

    def failing(path, to):
        if path.name == ".taurus.yml.new":
            raise OSError(28, "No space left on device", str(to))
        return replace(path, to)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(NewTargetError, match=r"nothing was made: .*No space left"):
        files.write(project, files.new_files(target), files.changed_files(target, project))
    assert files_of(project) == before


@pytest.mark.parametrize("text", ["a: [", "a: 1", "cli-aliases: 1"])
def test_a_taurus_yml_without_kinds_is_refused(text):
    with pytest.raises(NewTargetError, match=r"no `cli-aliases` that can be read"):
        files.with_kind(text, NewTarget("shop"), "  shop:\n    x: 1\n")


def test_a_taurus_yml_whose_kinds_are_not_at_its_end_is_refused():
    text = "cli-aliases:\n  load: {}\nmodules:\n  x:\n    y: 1\n"
    with pytest.raises(NewTargetError, match="does not end in its `cli-aliases`"):
        files.with_kind(text, NewTarget("shop"), "  shop:\n    x: 1\n")


def test_an_app_js_without_its_list_is_refused():
    with pytest.raises(NewTargetError, match="name the service by --url or --app"):
        files.mounted("const x = 1;\n", NewTarget("shop"))


def test_a_name_with_dashes_is_an_identifier_in_javascript_and_a_word_in_properties():
    target = checked(NewTarget("order-service-2"))
    assert (target.identifier, target.prefix) == ("orderService2", "order_service_2")
