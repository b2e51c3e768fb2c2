"""`tollgate new target`: what it writes, where, and that it writes all of it or nothing."""

import csv
import re
import shutil
from pathlib import Path

import pytest
import yaml

import support
from tollgate.base.urls import Url
from tollgate.cli import new_target as command
from tollgate.cli.new_target import files
from tollgate.cli.new_target.files import NewTarget, NewTargetError, checked
from tollgate.criteria import grammar as criteria
from tollgate.intake.draft import Draft
from tollgate.service.elements import parts_of
from tollgate.service.model import read_service

SERVICE = Url("http", "127.0.0.1", 8080)
BY_URL = ("shop", "--url", "http://127.0.0.1:8080")


def copied(folder, *paths):
    """A folder as it is in a project, with these files and folders of ours."""
    for name in ("app/targets", "data", "plans/fragments", "tests/app"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for path in paths:
        own, copy = support.ROOT / path, folder / path
        shutil.copytree(own, copy, dirs_exist_ok=True) if own.is_dir() else shutil.copy(own, copy)
    return folder


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with what the command reads and changes, which it takes for ours."""
    monkeypatch.setattr(command, "SUITE", tmp_path)
    return copied(tmp_path, files.APP, files.CONFIG)


@pytest.fixture
def new_target(project, tollgate):  # noqa: ARG001 - it is the project that changes
    """Makes a target in the project; gives what was printed."""

    def run(*words):
        code, out, err = tollgate("new", "target", *words)
        assert code == 0, err
        return out

    return run


@pytest.fixture
def refused(project, refusal):
    """Gives the line of a refusal, which changes nothing."""

    def run(*words):
        before = files_of(project)
        said = refusal("new", "target", *words)
        assert files_of(project) == before
        return said

    return run


def files_of(project):
    every = [path for path in project.rglob("*") if path.is_file()]
    return {str(path.relative_to(project)): path.read_text() for path in every}


def service_of(project, name):
    return yaml.safe_load((project / "taurus.yml").read_text())["scenarios"][name]


def test_a_target_of_ours_is_a_router_with_all_that_goes_with_it(new_target, project):
    out = new_target("order-service")
    made = [
        *("data/order-service.csv", "app/targets/order-service.js"),
        "tests/app/order-service.test.js",
    ]
    changed = ["taurus.yml", "app/app.js"]
    assert [line.split() for line in out.splitlines()[:5]] == [
        *(["made", path] for path in made),
        *(["changed", path] for path in changed),
    ]
    assert "Run it: tollgate run -order-service" in out
    assert set(files_of(project)) == {*made, *changed}
    assert "meadow" not in "".join(files_of(project).values())


def test_a_service_of_somebody_else_is_some_lines_of_taurus_yml_and_its_data(new_target, project):
    asked = ("GET /items?x=1", "GET /items/${id}", "POST /orders", "POST /orders")
    out = new_target(*BY_URL, *(word for it in asked for word in ("--request", it)))
    assert "app/app.js" not in out
    assert set(files_of(project)) == {"data/shop.csv", "taurus.yml", "app/app.js"}
    assert (project / "app/app.js").read_bytes() == (support.ROOT / "app/app.js").read_bytes()
    assert (project / "data/shop.csv").read_text().splitlines()[:2] == ["id", "1"]
    service = service_of(project, "shop")
    assert service["url"] == "http://127.0.0.1:8080"
    assert service["requests"] == [
        {"label": "items-x-1", "url": "/items?x=1", "weight": 1},
        {"label": "items-id", "url": "/items/${id}", "weight": 1},
        {"label": "post-orders", "url": "/orders", "method": "POST", "weight": 1},
        {"label": "post-orders-4", "url": "/orders", "method": "POST", "weight": 1},
    ]
    assert [it["path"] for it in service["probes"]] == ["/items?x=1"]


def test_a_label_has_letters_that_it_may_be_named_by(new_target, project):
    asked = ("GET /2024", "GET /\u043f\u043e\u0438\u0441\u043a", "GET /caf\u00e9")
    new_target(*BY_URL, *(word for it in asked for word in ("--request", it)))
    labels = [it["label"] for it in service_of(project, "shop")["requests"]]
    assert labels == ["shop-2024", "shop", "caf"]


def test_without_data_there_is_no_file_of_them(new_target, project):
    new_target(*BY_URL)
    assert set(files_of(project)) == {"taurus.yml", "app/app.js"}
    assert [it["label"] for it in service_of(project, "shop")["requests"]] == ["shop"]


def test_requests_may_stand_in_fragments_that_the_gui_opens(new_target, project, monkeypatch):
    new_target(*BY_URL, "--jmx", "--request", "GET /items", "--request", "POST /orders")
    there = sorted(it.name for it in (project / "plans/fragments").iterdir())
    assert there == ["shop-items.jmx", "shop-post-orders.jmx"]
    monkeypatch.setattr("tollgate.service.elements.SUITE", project)
    found = parts_of(read_service("shop", service_of(project, "shop")), project / "plans")
    assert [it.samples for it in found.requests] == [("items",), ("post-orders",)]


@pytest.mark.parametrize("name", ["meadows", "meadow-target", "meadow"])
def test_a_name_that_holds_the_templates_word_is_written_as_it_is(name):
    router = files.new_files(NewTarget(name))[f"app/targets/{name}.js"]
    other = files.new_files(NewTarget("weather"))["app/targets/weather.js"]
    identifier = NewTarget(name).identifier
    assert router.replace(identifier, "weatherTarget").replace(name, "weather") == other


def test_an_app_of_theirs_is_named_as_the_target(new_target, refused, project):
    new_target("mine", "--app", "cluster")
    assert service_of(project, "mine")["app"] == "cluster"
    said = "ecosystem.config.js has no app 'nobody', only fork, cluster"
    assert said in refused("other", "--app", "nobody")


def test_taurus_yml_keeps_every_line_and_gains_a_service(new_target, project):
    before = (support.ROOT / "taurus.yml").read_text()
    new_target(*BY_URL)
    new_target("order-service")
    after = (project / "taurus.yml").read_text()
    lines = iter(after.splitlines())
    assert all(line in lines for line in before.splitlines())
    services = yaml.safe_load(after)["scenarios"]
    assert [*services] == [*yaml.safe_load(before)["scenarios"], "shop", "order-service"]


def test_taurus_yml_keeps_its_line_ends(new_target, project):
    path = project / "taurus.yml"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    new_target(*BY_URL)
    assert service_of(project, "shop")["url"] == "http://127.0.0.1:8080"
    text = path.read_bytes()
    assert text.count(b"\n") == text.count(b"\r\n")


@pytest.mark.parametrize("target", [NewTarget("order-service"), NewTarget("shop", SERVICE)])
def test_a_service_is_one_that_tollgate_reads_with_criteria_on_its_labels(target, tmp_path):
    files.write(
        copied(tmp_path, files.CONFIG),
        {},
        {files.CONFIG: files.with_service((support.ROOT / files.CONFIG).read_text(), target)},
    )
    service = read_service(target.name, service_of(tmp_path, target.name))
    labels = [it.label for it in service.requests]
    stated = criteria.parse_all(service.taurus["criteria"], labels)
    assert {it.label for it in stated if it.label} == {*labels}


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
    copied(tmp_path, "app", "tests/app/support", "package.json", "taurus.yml")
    (tmp_path / "node_modules").symlink_to(support.ROOT / "node_modules")
    for target in (NewTarget("order-service"), NewTarget("weather")):
        changed = files.changed_files(target, tmp_path)
        files.write(tmp_path, files.new_files(target), changed)
    tests = [f"tests/app/{name}.test.js" for name in ("order-service", "weather")]
    done = support.run("node", "--test", *tests, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_what_is_generated_passes_the_linters(tmp_path):
    copied(tmp_path, "eslint.config.js", ".prettierrc.json", "package.json")
    (tmp_path / "node_modules").symlink_to(support.ROOT / "node_modules")
    longest = NewTarget("a-name-of-a-target-as-long-as-one-can-be")
    for target in (NewTarget("ab"), longest):
        text = (support.ROOT / files.APP).read_text()
        files.write(tmp_path, files.new_files(target), {})
        (tmp_path / f"app/{target.name}-app.js").write_text(files.mounted(text, target))
    tools = support.ROOT / "node_modules" / ".bin"
    for words in ("eslint --max-warnings 0 .", "prettier --check **/*.js"):
        tool, *arguments = words.split()
        done = support.run(tools / tool, *arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name", ["", "a", "Shop", "my shop", "shop.eu", "../shop", "1st", "a--b", "a-", "ü", "x" * 41]
)
def test_a_name_that_would_break_a_file_a_label_or_a_property_is_refused(name, refused):
    assert "is no name for a target" in refused(name)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("stress", "taurus.yml has a kind 'stress' already"),
        ("plan", "taurus.yml has a kind 'plan' already"),
        ("latest", "is taken by Tollgate itself"),
        ("check", "is taken by Tollgate itself"),
        ("fork", "taurus.yml has a scenario 'fork' already"),
        ("shop --url http://a --request items", "--request 'items' is none"),
        ("cloud", "Taurus has a kind 'cloud' of its own"),
        ("install-tools", "Taurus has a kind 'install-tools' of its own"),
        ("off", "'off' means something else in YAML"),
        ("shop --url shop.example", "has url 'shop.example': write protocol, host"),
        ("shop --request /items", "--request is for a service of yours"),
        ("shop --url http://a --app fork", "not allowed with argument"),
        ("", "the following arguments are required: name"),
    ],
)
def test_what_is_taken_or_can_not_be_made_is_refused_in_one_line(words, said, refused):
    assert said in refused(*words.split())


def test_a_file_that_is_there_is_never_written_over(refused, project):
    (project / "data" / "shop.csv").write_text("mine\n")
    assert "data/shop.csv is there already" in refused(*BY_URL, "--request", "GET /${id}")


def test_a_hidden_file_of_the_same_name_stays_as_it_is(new_target, project):
    (project / ".taurus.yml").write_text("mine\n")
    new_target(*BY_URL)
    assert (project / ".taurus.yml").read_text() == "mine\n"


@pytest.mark.parametrize("broken", ["data", "plans/fragments"])
def test_where_one_file_can_not_be_written_none_is(broken, refused, project):
    (project / broken).rmdir()
    (project / broken).write_text("no folder\n")
    words = (*BY_URL, "--jmx", "--request", "GET /${id}")
    assert refused(*words).startswith("tollgate: nothing was made: ")


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


@pytest.mark.parametrize("text", ["a: [", "a: 1", "scenarios: 1", "scenarios: {a: {}}\n"])
def test_a_taurus_yml_without_scenarios_that_can_be_added_to_is_refused(text):
    with pytest.raises(NewTargetError, match=r"can't be added to|no `scenarios`"):
        files.with_service(text, NewTarget("shop", SERVICE))


def test_an_app_js_that_has_the_router_already_is_refused():
    target = NewTarget("order-service")
    once = files.mounted((support.ROOT / files.APP).read_text(), target)
    with pytest.raises(NewTargetError, match="would be orderServiceTarget in app"):
        files.mounted(once, target)


def test_an_app_js_without_its_list_is_refused():
    with pytest.raises(NewTargetError, match="name the service by --url or --app"):
        files.mounted("const x = 1;\n", NewTarget("shop"))


def test_a_name_with_dashes_is_an_identifier_in_javascript():
    assert checked(NewTarget("order-service-2")).identifier == "orderService2Target"


ENDS = "a\x85b\u2028c\u2029d"


def test_what_yaml_and_csv_take_for_the_end_of_a_line_is_kept_in_a_text():
    request = {"label": "a", "url": "/", "headers": {"X-A": "${a}", "X-B": ENDS}}
    draft = Draft((request,), {"a": ("b\rc", "d"), "e": ("f", "g")})
    target = NewTarget("shop", Url("http", "127.0.0.1", 80), draft=draft)
    [written] = yaml.safe_load(files.scenario(target))["shop"]["requests"]
    assert written["headers"]["X-B"] == ENDS
    rows = [*csv.reader(files.new_files(target)["data/shop.csv"].splitlines(keepends=True))]
    assert rows == [["a", "e"], ["b\rc", "f"], ["d", "g"]]
