"""What makes no comparison, and services by URL that are compared."""

import http.server
import shutil
import socket
import threading

import pytest
from bzt import ToolError

import support
from support.compare_service import refused, scenario
from support.http_server import serving
from tollgate.compare import record
from tollgate.targets.packages import PackagesError
from tollgate.taurus import compare as service


@pytest.mark.parametrize(
    ("executions", "given", "why"),
    [
        ([], {"reload_every": "20s"}, "a reload hits base and head at different moments"),
        ([], {"properties": {"measured": 300}}, "set modules.compare.budget instead"),
        ([], {"buget": 600}, "did you mean 'budget'?"),
        ([], {"effect": "much"}, "effect is 'much'"),
        ([], {"services": []}, "services has no `targets`"),
        ([], {"scenario": {"app": None}}, "scenario 'compare' has no `app`: name one of"),
        ([], {"scenario": {"app": "forks"}}, "did you mean 'fork'?"),
        ([], {"scenario": {"link": ["../.env"]}}, "link is '../.env': write a path in the repo"),
        ([], {"processes": 0}, "processes is 0: write a whole number from 1 to 16"),
        (["fork", "cluster"], {}, "share one execution, and this run has: fork, cluster"),
        (
            *([], {"properties": {"response_timeout": 0}}),
            "the property response_timeout is '0': write whole milliseconds above 0",
        ),
        *(
            ([], {"properties": {"period": value}}, f"the property period is {value!r}")
            for value in ("fast", "0", "-1", "1.5")
        ),
    ],
)
def test_what_makes_no_comparison_is_refused(compare, executions, given, why):
    assert why in refused(compare(*executions, **given))


def test_a_plan_that_can_t_be_read_is_refused(compare):
    made = compare()
    scenario(made)["script"] = "plans/nowhere.jmx"
    assert "the plan plans/nowhere.jmx can't be read" in refused(made)


def test_an_unknown_base_is_refused_before_anything_is_touched(compare, monkeypatch, tmp_path):
    monkeypatch.setenv("BASE", "featur")
    made = compare()
    assert "git knows no such commit in /" in refused(made, ToolError)
    assert made.engine.services[0].calls == []
    assert not (tmp_path / "base").exists()


def test_what_was_half_done_is_gone_afterwards(compare, monkeypatch, tmp_path):
    def fail(*_arguments):
        raise PackagesError("`npm ci` failed for base: no")

    monkeypatch.setattr(service.packages, "provide", fail)
    made = compare()
    assert refused(made, ToolError) == "compare: `npm ci` failed for base: no"
    assert (tmp_path / "base").exists()
    made.post_process()
    assert not (tmp_path / "base").exists()
    assert not record.is_compare(tmp_path)


def test_a_base_without_a_lock_file_is_refused(compare, checkout):
    checkout.git("switch", "--quiet", "main")
    (checkout.root / "package-lock.json").unlink()
    checkout.commit("unlocked")
    checkout.git("switch", "--quiet", "feature")
    assert "base has no package-lock.json" in refused(compare(base="main"), ToolError)


@pytest.fixture
def answering():
    """A server that knows nothing of what it is asked for."""
    with serving(http.server.BaseHTTPRequestHandler) as server:
        yield f"http://127.0.0.1:{server.server_port}"


def test_urls_start_nothing_and_need_no_git(compare, answering, tmp_path, checkout):
    shutil.rmtree(checkout.root / ".git")
    made = compare(**{"base-url": answering, "head-url": f"{answering}/"})
    made.prepare()
    assert "target" not in scenario(made)
    port = int(answering.rpartition(":")[2])
    assert scenario(made)["properties"]["port_1"] == port
    found = record.read(tmp_path)
    assert (found.mode, found.base.description, found.head.url) == ("url", answering, answering)
    assert (found.base.revision, found.head.revision) == (None, None)
    made.post_process()
    assert made.engine.services[0].calls == []


def test_a_url_where_nothing_answers_is_refused(compare, answering):
    nobody = f"http://127.0.0.1:{support.free_port()}"
    said = refused(compare(**{"base-url": answering, "head-url": nobody}))
    assert f"HEAD_URL {nobody} does not answer" in said
    assert "refused" in said
    for host in ("a..b", "x" * 64):
        said = refused(compare(**{"base-url": answering, "head-url": f"http://{host}:80"}))
        assert f"HEAD_URL http://{host}:80 does not answer as a web server does (" in said


def test_what_is_no_web_server_does_not_answer(compare, answering):
    def talk():
        connection, _ = listener.accept()
        with connection:
            connection.recv(1000)
            connection.sendall(b"220 mail.example.org\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=talk, daemon=True).start()
        strange = f"http://127.0.0.1:{listener.getsockname()[1]}"
        said = refused(compare(**{"base-url": strange, "head-url": answering}))
    assert f"BASE_URL {strange} does not answer" in said
