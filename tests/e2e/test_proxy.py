"""A proxy that the environment names gets no load for this machine. Real bzt and JMeter."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from e2e.bzt_run import Run, only


class Proxy(BaseHTTPRequestHandler):
    """Counts what it is asked for, and passes nothing on."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.send_response(502)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def proxy() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_load_for_this_machine_goes_through_no_proxy_of_the_environment(tmp_path, proxy):
    port = proxy.server_address[1]
    url = f"http://127.0.0.1:{port}"
    environment = dict.fromkeys(("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"), url)
    environment["JAVA_TOOL_OPTIONS"] = (
        f"-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort={port} -Dhttp.nonProxyHosts=shop.example"
    )
    config = only("fork", ["fail of calculate>0%", "fail of sum>0%"], warmup=1, measured=3)
    ended = Run(tmp_path, config=config, no_proxy="", NO_PROXY="", **environment).end()
    assert ended.code == 0, ended.output
    assert proxy.asked == []
