import json
import os

import pytest

from tollgate.targets import pm2

MIB = 1024 * 1024


@pytest.fixture
def ecosystem(tmp_path, monkeypatch):
    """Writes an ecosystem.config.js and has it read; `apps` stands behind what else it does."""

    def write(*apps, first="", cores=4):
        (tmp_path / "nap.js").write_text("setInterval(() => {}, 1000);")
        (tmp_path / "nap.sh").write_text("sleep 1000")
        file = tmp_path / "ecosystem.config.js"
        file.write_text(
            f"require('node:os').cpus = () => Array({cores}).fill({{}});\n{first}\n"
            f"module.exports = {{ apps: {json.dumps(apps)} }};"
        )
        monkeypatch.setattr(pm2, "ECOSYSTEM", file)
        return pm2.declared_apps()

    return write


def nap(**settings):
    return {"name": "nap", "script": "nap.js", "env": {"PORT": 4000}, **settings}


@pytest.mark.parametrize(
    ("settings", "mode", "instances"),
    [
        *(({}, "fork", 1), ({"exec_mode": "cluster"}, "cluster", 1)),
        *(({"instances": 1}, "cluster", 1), ({"instances": 2}, "cluster", 2)),
        *(({"instances": "2"}, "cluster", 2), ({"instances": 0}, "cluster", 4)),
        *(({"instances": "max"}, "cluster", 4), ({"instances": -1}, "cluster", 3)),
        ({"instances": -2}, "fork", 2),  # PM2 looks for -1 alone
        ({"instances": -9, "exec_mode": "cluster"}, "cluster", 1),
        ({"instances": 2, "exec_mode": "fork"}, "fork", 2),
        ({"instances": 2, "exec_mode": "fork_mode"}, "fork", 2),
        ({"instances": 2, "interpreter": "node"}, "cluster", 2),
        ({"instances": 2, "interpreter": "none"}, "fork", 2),
        ({"instances": 2, "script": "nap.sh"}, "fork", 2),
    ],
)
def test_mode_and_instances_are_what_pm2_makes_of_them(ecosystem, settings, mode, instances):
    found = ecosystem(nap(**settings))["nap"]
    assert (found.exec_mode, found.instances) == (mode, instances)


@pytest.mark.parametrize(
    ("settings", "script"),
    [({}, "nap.js"), ({"cwd": "below"}, "below/nap.js"), ({"script": "gone.js"}, "gone.js")],
)
def test_a_script_is_named_whether_it_is_there_or_not(ecosystem, tmp_path, settings, script):
    assert ecosystem(nap(**settings))["nap"].script == str(tmp_path / script)


def test_on_one_core_all_but_one_instance_is_one(ecosystem):
    assert ecosystem(nap(instances=-1), cores=1)["nap"].instances == 1


@pytest.mark.parametrize(
    "first",
    [
        "console.log('[dotenv@17.2.0] injecting env (3) from .env');",
        "process.stdout.write('no end of line');",
        "process.on('exit', () => console.log('[]'));",
        "console.log('größe\\u2028'); console.error('Error: a warning');",
        "setInterval(() => {}, 1000);",
    ],
    ids=["banner", "half a line", "at the end", "not ascii", "goes on"],
)
def test_what_an_ecosystem_prints_or_begins_is_none_of_its_apps(ecosystem, first):
    assert list(ecosystem(nap(), first=first)) == ["nap"]


@pytest.mark.parametrize(
    ("apps", "first", "said"),
    [
        ([nap()], "process.exit(0);", "can't be read: Node ended too early"),
        ([nap()], "throw new Error('no .env');", "can't be loaded: Error: no .env"),
        ([nap()], "process.exit(4);", "can't be loaded: it ends Node with code 4"),
        ([nap(name=None, script=None)], "", "an app has no name and no script"),
    ],
    ids=["leaves", "throws", "fails", "no name"],
)
def test_an_ecosystem_without_apps_that_can_be_asked_is_refused_in_a_line(
    ecosystem, apps, first, said
):
    with pytest.raises(pm2.Pm2Error, match=said) as caught:
        ecosystem(*apps, first=first)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("declared", "limit"),
    [
        *(("512M", 512 * MIB), ("1G", 1024 * MIB), ("300K", 300 * 1024)),
        *(("1048576", MIB), (1048576, MIB), (None, None)),
        ("half a gigabyte", None),  # PM2 refuses it, and sets no limit
    ],
)
def test_the_memory_limit_is_what_pm2_makes_of_it(ecosystem, declared, limit):
    found = ecosystem(nap(max_memory_restart=declared))
    assert found["nap"].memory_limit == limit


@pytest.mark.parametrize(("name", "ports"), [("PORT", [4000, 4001, 4002]), ("ID", [4000])])
def test_each_fork_has_the_port_to_which_pm2_increments_it(ecosystem, name, ports):
    app = ecosystem(nap(instances=3, exec_mode="fork", increment_var=name))["nap"]
    assert [*app.ports] == ports


@pytest.mark.parametrize(
    ("settings", "script", "args"),
    [
        ({"script": None, "cmd": "nap.js"}, "nap.js", ()),
        ({"script": None, "exec": "nap.js"}, "nap.js", ()),
        ({"script": "nap.sh -f", "instances": 2}, "/bash", ("-c", "nap.sh", "-f")),
    ],
)
def test_a_script_may_have_each_of_its_names_and_be_a_command(ecosystem, settings, script, args):
    app = ecosystem(nap(**settings))["nap"]
    assert (app.script.endswith(script), app.args, app.exec_mode) == (True, args, app.exec_mode)


HOST, ENGINES = {"HOST": "10.0.0.10"}, {"ENGINES": "10.0.0.11:1099"}


@pytest.mark.parametrize(
    ("given", "address"),
    [(HOST, "127.0.0.1"), (ENGINES, "127.0.0.1"), (ENGINES | HOST, "10.0.0.10")],
)
def test_apps_listen_beyond_loopback_only_for_engines(monkeypatch, given, address):
    for name in ("HOST", "ENGINES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert pm2.host() == address
    assert pm2.environment()["HOST"] == address


@pytest.mark.parametrize("given", ["my-machine", "0.0.0.0", "::"])
def test_a_host_that_is_no_address_to_be_reached_at_is_refused(monkeypatch, given):
    for name, value in (ENGINES | {"HOST": given}).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(pm2.Pm2Error, match="HOST"):
        pm2.host()


@pytest.fixture
def long_home(tmp_path, monkeypatch):
    """A PM2_HOME whose path is too long, and the link by which it is short."""
    home = tmp_path.joinpath(*["deep" * 10] * 3)
    home.mkdir(parents=True)
    monkeypatch.setattr(pm2, "PM2_HOME", home)
    monkeypatch.setattr(pm2.tempfile, "gettempdir", lambda: str(tmp_path))
    return home, tmp_path / f"tollgate-{os.getuid()}-{home.stat().st_ino}"


def test_a_link_of_ones_own_leads_to_a_home_with_a_long_path(long_home):
    home, link = long_home
    for before in (lambda: None, lambda: link.unlink() or link.symlink_to("/nowhere")):
        before()
        assert pm2.home() == str(link)
        assert link.readlink() == home


@pytest.mark.parametrize("leads", ["home", "elsewhere"])
def test_a_link_that_somebody_else_owns_is_refused_wherever_it_leads(leads, long_home, monkeypatch):
    home, link = long_home
    owner = os.getuid()
    monkeypatch.setattr(pm2.os, "getuid", lambda: owner + 1)
    link = link.with_name(link.name.replace(f"-{owner}-", f"-{owner + 1}-"))
    link.symlink_to(home if leads == "home" else home.parent)
    with pytest.raises(pm2.Pm2Error, match=f"belongs to the user {owner}: .*TMPDIR"):
        pm2.home()
    assert link.is_symlink()


def test_a_folder_in_the_place_of_the_link_is_refused(long_home):
    long_home[1].mkdir()
    with pytest.raises(pm2.Pm2Error, match="short link"):
        pm2.home()
