"""A proxy that the environment names gets no load for this machine. Real bzt and JMeter."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import ThreadingHTTPServer

import pytest

from e2e.bzt_run import LENIENT, WARMUP_S, Run, mostly_right, only
from support.http_server import Handler, serving


class Proxy(Handler):
    """Counts what it is asked for, and passes nothing on."""

    def respond(self) -> None:
        self.server.asked.append(self.path)
        self.answer(502)


@pytest.fixture
def proxy() -> Iterator[ThreadingHTTPServer]:
    with serving(Proxy, asked=[]) as server:
        yield server


def test_load_for_this_machine_goes_through_no_proxy_of_the_environment(tmp_path, proxy):
    port = proxy.server_address[1]
    url = f"http://127.0.0.1:{port}"
    environment = dict.fromkeys(("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"), url)
    environment["JAVA_TOOL_OPTIONS"] = (
        f"-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort={port} -Dhttp.nonProxyHosts=shop.example"
    )
    config = only("fork", mostly_right("calculate", "sum"), warmup=WARMUP_S, measured=3)
    config["modules"] |= {"verdict": LENIENT}
    ended = Run(tmp_path, config=config, no_proxy="", NO_PROXY="", **environment).end()
    [execution] = ended.verdict["executions"]
    judged = [(it["verdict"], it["observed"]) for it in execution["criteria"]]
    assert judged == [("PASS", 0), ("PASS", 0)], ended.output
    assert proxy.asked == []
