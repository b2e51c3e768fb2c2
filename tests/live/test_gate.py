"""What strangers on this machine may take from a run through the port of its live page."""

import contextlib
import logging
import random
import socket
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from tollgate.live import gate
from tollgate.live.server import LiveServer

SEED = random.randrange(10**6)
#: Connections of strangers, far more than may be open.
MANY = 250


@pytest.fixture(autouse=True)
def _late(monkeypatch):
    """Whoever is closed has not run out of time."""
    monkeypatch.setattr(gate, "HEAD_S", 3600)


@pytest.fixture
def soon(monkeypatch):
    """A request has less time to tell its headers than these clients wait."""
    monkeypatch.setattr(gate, "HEAD_S", 0.6)


@pytest.fixture
def server(caplog):
    caplog.set_level(logging.DEBUG)
    made = LiveServer("<!DOCTYPE html><title>live</title>", "default-src 'none'")
    made.start()
    yield made
    made.close()
    mine = [it for it in caplog.records if it.name != "asyncio" or it.levelno > logging.DEBUG]
    assert mine == []


@pytest.fixture
def strangers(server):
    """Opens a connection that has sent this, as often as it is called."""
    opened = []

    def connect(first=b""):
        opened.append(socket.create_connection(address(server), 5))
        opened[-1].settimeout(5)
        # A connection that has been given up for another one may be gone by now.
        with contextlib.suppress(ConnectionError):
            opened[-1].sendall(first)
        return opened[-1]

    yield connect
    for each in opened:
        each.close()


def address(server):
    return "127.0.0.1", int(server.url.split(":")[2].split("/")[0])


def path(server):
    return "/" + server.url.split("/", 3)[3]


def descriptors():
    return sum(1 for _ in Path("/dev/fd").iterdir())


def page_of(server):
    with urlopen(server.url, timeout=5) as answer:
        return answer.read().decode()


def answer_on(connection):
    """All that comes until it is closed. Raises TimeoutError if it stays open."""
    answer = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(4096):
            answer += part
    return answer


@pytest.mark.parametrize("first", [b"", b"GET ", b"GET /nobody"], ids=["idle", "slow", "half"])
def test_a_crowd_of_strangers_takes_few_descriptors_and_the_page_is_there(first, server, strangers):
    before, most = descriptors(), 0
    for number in range(MANY):
        strangers(first)
        most = max(most, descriptors() - before - number - 1)
        if number % 50 == 49:
            assert "live" in page_of(server)
    assert most <= gate.MOST_CONNECTIONS + gate.BACKLOG + 3


@pytest.mark.usefixtures("soon")
def test_who_tells_no_request_is_closed_soon_and_leaves_nothing(server, strangers):
    before = descriptors()
    opened = [strangers(first) for first in (b"", b"G", b"GET /", f"GET {path(server)}".encode())]
    assert [answer_on(each) for each in opened] == [b""] * len(opened)
    assert descriptors() - before == len(opened)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("knows_token", [False, True])
def test_headers_that_drip_end_in_time_all_the_same(knows_token, server, strangers):
    line = f"GET {path(server)} HTTP/1.1\r\n".encode() if knows_token else b"GE"
    dripping, until = strangers(line), time.monotonic() + 30
    with contextlib.suppress(ConnectionError):
        while time.monotonic() < until:
            dripping.sendall(b"x: y\r\n" if knows_token else b"T")
            time.sleep(0.05)
    assert time.monotonic() < until, "it was let go on"


def test_headers_without_end_are_closed(server, strangers):
    long = f"GET {path(server)} HTTP/1.1\r\nx: ".encode() + b"y" * (2 * gate.HEAD_BYTES)
    assert answer_on(strangers(long)) == b""


def test_a_request_without_the_token_is_closed_at_once_and_told_nothing(server, strangers):
    chance = random.Random(SEED)
    token, tried = path(server)[1:-1], []
    for _ in range(60):
        word = bytes(chance.randrange(1, 256) for _ in range(chance.randrange(1, 40)))
        wrong = f"/{token[: chance.randrange(len(token))]}/".encode()
        end = chance.choice([b" HTTP/1.1\r\n\r\n", b"\n", b" x\r\nHost: x\r\n"])
        tried.append(chance.choice([b"GET " + wrong, b"POST /" + word, word]) + end)
    for request in tried:
        answer = answer_on(strangers(request))
        assert answer in (b"", gate._REFUSAL), (SEED, request)


def test_a_request_that_comes_in_pieces_is_answered(server, strangers):
    chance = random.Random(SEED)
    request = f"GET {path(server)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    for _ in range(5):
        connection = strangers()
        cuts = sorted(chance.sample(range(1, len(request)), 5))
        for start, end in zip([0, *cuts], [*cuts, None], strict=True):
            connection.sendall(request[start:end])
            time.sleep(0.005)
        answer = answer_on(connection)
        assert answer.startswith(b"HTTP/1.1 200 OK"), (SEED, cuts)
        assert b"<title>live</title>" in answer


def test_the_end_of_a_run_closes_those_that_wait(server, strangers):
    waiting = [strangers() for _ in range(5)]
    assert "live" in page_of(server)
    server.close()
    assert [answer_on(each) for each in waiting] == [b""] * 5
