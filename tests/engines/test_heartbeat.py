"""An engine that answers no more is lost."""

import socket
import time

import pytest

import support
from tollgate.engines import heartbeat


@pytest.fixture
def listening():
    """Listens and says nothing, as a JVM that has been stopped does."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_one_that_says_nothing_is_lost(monkeypatch, listening):
    for name, value in (("EVERY_S", 0.05), ("ANSWER_S", 0.05), ("LOST_S", 0.2)):
        monkeypatch.setattr(heartbeat, name, value)
    followed = heartbeat.Heartbeat([listening])
    try:
        lost = support.wait_until(followed.lost, "it is lost")
    finally:
        followed.end()
    assert lost == followed.answered


def test_nothing_that_listens_is_no_answer():
    with pytest.raises(OSError, match="refused"):
        heartbeat.answer(f"127.0.0.1:{support.free_port()}")


def test_beside_a_lost_one_stand_those_that_are_silent_too():
    followed = heartbeat.Heartbeat([])
    now = time.time()
    silent = {"lost": heartbeat.LOST_S + 1, "next": heartbeat.LOST_S - 2, "lives": 1.0}
    followed.answered = {host: now - s for host, s in silent.items()}
    assert set(followed.lost()) == {"lost", "next"}
    del followed.answered["lost"]
    assert followed.lost() == {}
