"""A comparison of a plan of somebody's own, with a login and ids that one answer gives the next
request, against sides that refuse each other's sessions."""

import json
import urllib.request

import pytest

from e2e.bzt_run import Run
from e2e.comparing import SHORT
from support import services, visits
from support.service_suite import ServiceSuite

LABELS = {"login", "list", "item", "put", "cart"}
CART = "app.get('/cart', signedIn, (request, response) => {"


def asked(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    made = ServiceSuite(tmp_path_factory.mktemp("own"))
    made.config = made.shop()
    return made


@pytest.fixture
def slow(suite):
    """Writes the script of a shop whose carts take so many milliseconds more."""
    written, text = [], (suite.repo.root / "shop.js").read_text()
    assert CART in text

    def write(ms):
        waits = f"app.get('/cart', (request, response, next) => setTimeout(next, {ms}));"
        written.append(suite.repo.root / f"slow-{ms}.js")
        written[-1].write_text(text.replace(CART, f"{waits}\n{CART}"))
        return written[-1].name

    yield write
    for script in written:
        script.unlink(missing_ok=True)


def compare(suite, folder, base, head, plan, *options):
    (folder / "visits.jmx").write_text(plan)
    own = {"PLAN": str(folder / "visits.jmx")}
    own |= {"BASE_URL": f"http://127.0.0.1:{base}", "HEAD_URL": f"http://127.0.0.1:{head}"}
    given = {"config": suite.config, "alias": "shop compare", "root": suite.suite}
    return Run(folder, *SHORT, *options, **given, **own).end()


@pytest.mark.long
def test_a_login_a_turn_has_a_coin_a_turn_and_no_session_is_refused(suite, tmp_path):
    with services.serving(suite.repo) as base, services.serving(suite.repo) as head:
        # Nobody listens where the plan itself would ask.
        plan = visits.plan(9)
        ended = compare(suite, tmp_path, base, head, plan, "modules.compare.gates=errors")
        refused = [asked(port, "/refused")["refused"] for port in (base, head)]
    assert refused == [0, 0]
    assert ended.outcome == (0, "PASS"), ended.output
    told = ended.json("compare.json")
    assert (told["coin"], told["repeats"]) == ("iteration", 1.0)
    assert set(told["settings"]["labels"]) == LABELS
    assert {it["label"] for it in ended.execution["comparison"]["findings"]} == LABELS
    assert {row["coin"] for row in ended.samples} == {"0", "1"}
    assert ended.all_answered_right
    # A turn goes to one side, whatever it asks.
    for said in (
        "requests are assigned once per iteration",
        "the threads of visitors wait for an answer",
    ):
        assert said in ended.output


@pytest.mark.long
def test_a_login_a_thread_has_a_coin_a_thread_and_a_slower_head_fails(suite, slow, tmp_path):
    plan = visits.plan(9, threads=16, clears=False, once=True, pause_ms=200)
    gates = ("modules.compare.gates=typical,errors", "modules.compare.labels=cart")
    with (
        services.serving(suite.repo, slow(40)) as base,
        services.serving(suite.repo, slow(160)) as head,
    ):
        ended = compare(suite, tmp_path, base, head, plan, *gates)
        refused = [asked(port, "/refused")["refused"] for port in (base, head)]
    assert refused == [0, 0]
    assert ended.outcome == (3, "FAIL"), ended.output
    assert "typical of cart" in ended.reasons()
    told = ended.json("compare.json")
    assert (told["coin"], "login" in told["settings"]["labels"]) == ("thread", False)
    sides = {}
    for row in ended.samples:
        sides.setdefault(row["threadName"], set()).add(row["coin"])
    assert sorted(map(len, sides.values())) == [1] * 16
    assert sorted(coin for of in sides.values() for coin in of) == ["0"] * 8 + ["1"] * 8


@pytest.mark.long
def test_an_app_under_pm2_is_asked_by_the_plan_process_by_process(suite, tmp_path):
    (tmp_path / "visits.jmx").write_text(visits.plan(9, threads=16, clears=False, once=True))
    quick = (*SHORT, "modules.compare.processes=2", "modules.compare.budget=10")
    given = {"config": suite.config, "alias": "shop compare", "root": suite.suite}
    given |= {"PLAN": str(tmp_path / "visits.jmx"), "BASE": "HEAD"}
    given["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    ended = Run(tmp_path, *quick, "modules.compare.gates=errors", **given).end_cleanly()
    assert ended.all_answered_right, ended.output
    told = ended.json("compare.json")
    assert (told["mode"], told["processes"], told["coin"]) == ("fork", 2, "thread")
    coins = {row["threadName"]: row["coin"] for row in ended.samples}
    assert sorted(coins.values()) == ["0"] * 4 + ["1"] * 4 + ["2"] * 4 + ["3"] * 4


def test_too_few_threads_for_a_coin_a_thread_are_refused_before_the_load(suite, tmp_path):
    plan = visits.plan(9, threads=10, once=True)
    with services.serving(suite.repo) as base, services.serving(suite.repo) as head:
        ended = compare(suite, tmp_path, base, head, plan)
    assert ended.code == 1
    assert "give the group 16 threads or more, 8 a side (it has 10)" in ended.error()
    assert not (ended.folder / "kpi.jtl").exists()
