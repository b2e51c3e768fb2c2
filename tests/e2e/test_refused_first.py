"""What can't be run is refused before a target or JMeter starts, whoever has the target's port."""

import socket

import pytest

from e2e.bzt_run import Run
from tollgate.base.paths import PM2_HOME, SUITE

AT = "modules.jmeter.properties"
MISSPELT = {"scenarios": {"fork": {"criteria": ["p95 of serach>1s"]}}}
OF_TAURUS = {"~execution": [{"scenario": "fork", "concurrency": 5}]}
CONFIDNCE, NOWHERE = ["modules.verdict.confidnce=0.9"], [f"{AT}.sum_data=nowhere.csv"]
REFUSED = {
    "a misspelt label": ({"config": MISSPELT}, "did you mean 'search'?"),
    "a load of Taurus's": ({"config": OF_TAURUS}, "sets 'concurrency'"),
    "a setting of the last module": (
        {"options": CONFIDNCE},
        "modules.verdict has the setting 'confidnce'",
    ),
    "a data file that is not there": ({"options": NOWHERE}, "reads {root}/plans/nowhere.csv"),
    "a misspelt section": ({"config": {"modulse": {}}}, "did you mean 'modules'?"),
    "a misspelt kind": ({"alias": "stres"}, "did you mean 'stress'?"),
}


@pytest.fixture
def taken():
    """A port that somebody else listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield str(server.getsockname()[1])


def daemons(run):
    """How many daemons of PM2 its log tells of."""
    log = run.root / PM2_HOME.relative_to(SUITE) / "pm2.log"
    return log.read_text().count("New PM2 Daemon started") if log.exists() else 0


def refuse(folder, port, options=(), **given):
    run = Run(folder, *options, **given, PORT_FORK=port)
    before = daemons(run)
    ended = run.end()
    assert ended.code == 1
    assert daemons(run) <= before
    left = {path.name for path in run.folder.rglob("*")} if run.folder.exists() else set()
    assert left & {"jmeter.log", "kpi.jtl", "run.json", "workers.jsonl", "verdict.json"} == set()
    return run, ended.error()


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused_though_the_port_of_the_target_is_in_use(tmp_path, taken, what):
    given, expected = REFUSED[what]
    run, told = refuse(tmp_path, taken, **given)
    assert expected.format(root=run.root) in told


def test_a_port_in_use_is_what_is_left_to_say(tmp_path, taken):
    _, told = refuse(tmp_path, taken)
    assert f"port {taken} of app 'fork' is in use by" in told
