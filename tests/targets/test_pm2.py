import json

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
        ([nap(name=None)], "", "an app has no name"),
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
