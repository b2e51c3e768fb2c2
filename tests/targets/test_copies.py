"""Copies of a declared app, as PM2 would start them."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from tollgate.base.settings import SettingError
from tollgate.targets import copies, pm2, sides


@pytest.fixture
def ecosystem(tmp_path, monkeypatch):
    """Has these apps be those of the suite; the folder has a script for each language."""
    for name in ("shop.js", "shop.py"):
        (tmp_path / name).write_text("")
    monkeypatch.delenv(copies.VARIABLE, raising=False)

    def write(*apps, name="ecosystem.config.js"):
        file = tmp_path / name
        file.write_text(f"module.exports = {{ apps: {json.dumps(apps)} }};")
        monkeypatch.setattr(pm2, "ECOSYSTEM", file)
        return pm2.declared_apps()

    return write


def shop(**settings):
    return {"name": "shop", "script": "shop.js", "env": {"PORT": 4000}, **settings}


SIDES = {
    "args": "--listen ${PORT} --data /srv/${SIDE}/${PROCESS}",
    "env": {"PORT": 4000, "DATA": "store-${SIDE}-${PROCESS}"},
}


def test_a_declared_app_is_its_own_side_of_one_process(ecosystem):
    found = ecosystem(shop(**SIDES))["shop"]
    assert found.args == ("--listen", "4000", "--data", "/srv/shop/1")
    assert found.env == {"PORT": "4000", "DATA": "store-shop-1"}


def test_where_files_are_es_modules_the_apps_stand_in_one_that_is_none(ecosystem, tmp_path):
    (tmp_path / "package.json").write_text('{"type": "module"}')
    assert [*ecosystem(shop(), name="ecosystem.config.cjs")] == ["shop"]


def test_each_process_of_a_side_has_its_port_its_side_and_its_number(ecosystem):
    app = ecosystem(shop(**SIDES))["shop"]
    put_back = copies.compose(copies.of_side(app, "base", [4100, 4101], "fork"))
    found = pm2.declared_apps()
    assert [*found] == ["shop", "base", "base-2"]
    assert found["base-2"].args == ("--listen", "4101", "--data", "/srv/base/2")
    assert found["base-2"].env == {"PORT": "4101", "DATA": "store-base-2"}
    put_back()
    assert [*pm2.declared_apps()] == ["shop"]


def test_a_copy_stands_for_the_app_of_its_name_in_another_mode(ecosystem):
    app = ecosystem(shop())["shop"]
    put_back = copies.compose([copies.in_mode(app, "shop", 4000, "cluster")])
    [found] = pm2.declared_apps().values()
    assert (found.name, found.exec_mode) == ("shop", "cluster")
    put_back()


def test_a_copy_listens_at_its_port_alone_also_where_forks_have_one_each(ecosystem):
    app = ecosystem(shop(instances=3, exec_mode="fork", increment_var="PORT"))["shop"]
    put_back = copies.compose([copies.in_mode(app, "shop", 4000, "cluster")])
    assert [*pm2.declared_apps()["shop"].ports] == [4000]
    put_back()


def test_copies_are_added_to_those_that_were_asked_for(ecosystem):
    app = ecosystem(shop())["shop"]
    first = copies.compose([copies.in_mode(app, "one", 4001, "fork")])
    second = copies.compose([copies.in_mode(app, "two", 4002, "fork")])
    assert [*pm2.declared_apps()] == ["shop", "one", "two"]
    second()
    assert [*pm2.declared_apps()] == ["shop", "one"]
    first()


def test_whatever_names_the_repository_names_the_other_folder_in_a_copy(ecosystem, tmp_path):
    root = str(tmp_path)
    app = ecosystem(
        shop(
            cwd="below",
            script=f"{root}/shop.js",
            args=[f"--config={root}/a.json", f"{root}-other"],
            env={"PORT": 4000, "ROOTS": f"{root}:{root}/b"},
        )
    )["shop"]
    moved = copies.of_side(app, "base", [4100], "fork", (tmp_path, Path("/base")))
    put_back = copies.compose(moved)
    found = pm2.declared_apps()["base"]
    assert (found.cwd, found.script) == ("/base/below", "/base/shop.js")
    assert found.args == ("--config=/base/a.json", f"{root}-other")
    assert found.env["ROOTS"] == "/base:/base/b"
    put_back()


def test_an_app_that_is_not_node_s_has_no_cluster(ecosystem):
    app = ecosystem(shop(script="shop.py", interpreter="python3"))["shop"]
    assert not app.is_node
    with pytest.raises(SettingError, match="runs with 'python3', and PM2 has the cluster mode"):
        copies.in_mode(app, "shop", 4000, "cluster")


@pytest.fixture
def made(monkeypatch):
    """The copies of an app as they would be started."""

    def compose(*asked):
        monkeypatch.delenv(copies.VARIABLE, raising=False)
        monkeypatch.setenv(copies.VARIABLE, json.dumps([asdict(it) for it in asked]))
        found = pm2.declared_apps()
        return [found[it.name] for it in asked]

    return compose


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"args": "--listen 4000"}, "args of the app 'shop' in ecosystem.config.js names port"),
        ({"args": "--bind=4000"}, "args of the app 'shop'"),
        ({"args": "serve 4000"}, "args of the app 'shop'"),
        ({"env": {"PORT": 4000, "URL": "http://127.0.0.1:4000"}}, "URL of the app 'shop'"),
        ({"env": {"PORT": 4000, "HTTP_PORT": 4000}}, "HTTP_PORT of the app 'shop'"),
    ],
)
def test_a_port_that_all_copies_would_use_is_refused(ecosystem, made, settings, said):
    app = ecosystem(shop(**settings))["shop"]
    with pytest.raises(SettingError, match=said):
        copies.refuse_shared_ports(app, made(*copies.of_side(app, "base", [4000, 4001], "fork")))


@pytest.mark.parametrize(
    "settings",
    [
        {"args": "--timeout 4000 --max=4000"},
        {"env": {"PORT": 4000, "TIMEOUT_MS": 4000, "ROWS": "4000"}},
    ],
)
def test_another_number_of_the_ports_size_is_none_of_a_port(ecosystem, made, settings):
    app = ecosystem(shop(**settings))["shop"]
    copies.refuse_shared_ports(app, made(*copies.of_side(app, "base", [4000, 4001], "fork")))


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"env": {}}, "app 'jobs' has no number in env.PORT"), ({"name": "my jobs"}, "'my jobs'")],
)
def test_an_app_that_can_not_be_asked_is_refused_only_where_it_is_asked(ecosystem, settings, said):
    jobs = shop(**{"name": "jobs", **settings})
    found = ecosystem(shop(), jobs)
    assert copies.declared(found, "shop", "scenarios.shop.app").port == 4000
    with pytest.raises(SettingError, match=said):
        copies.declared(found, jobs["name"], "scenarios.jobs.app")


def test_two_sides_on_one_port_are_refused(ecosystem, made):
    app = ecosystem(shop(args="--listen ${PORT}", env={"PORT": 4000, "TIMEOUT": 40000}))["shop"]
    base = copies.of_side(app, "base", [4000, 4001], "fork")
    copies.refuse_shared_ports(app, made(*base, *copies.of_side(app, "head", [4002, 4003], "fork")))
    with pytest.raises(SettingError, match="'base-2' and 'head' both have port 4001"):
        copies.refuse_shared_ports(
            app, made(*base, *copies.of_side(app, "head", [4001, 4002], "fork"))
        )


def test_ports_that_do_not_exist_are_refused(ecosystem, made):
    app = ecosystem(shop())["shop"]
    with pytest.raises(SettingError, match="port 65536 of 'base-2' does not exist"):
        copies.refuse_shared_ports(app, made(*copies.of_side(app, "base", [65535, 65536], "fork")))


@pytest.mark.parametrize(
    ("swapped", "expected"),
    [
        (False, "base head head base head base base head"),
        (True, "head base base head base head head base"),
    ],
)
def test_neither_side_has_the_processes_that_start_early(tmp_path, swapped, expected):
    app = pm2.App("shop", 9000, "fork", 1, script=str(tmp_path / "app.js"), cwd=str(tmp_path))
    both = sides.copies_of_sides(app, "fork", 4, tmp_path, (tmp_path / "base", tmp_path), {})
    started = sides.in_turn(both, swapped)
    assert [it.side for it in started] == expected.split()
    assert [it.port for it in both[0]] == [9000, 9003, 9005, 9006]
