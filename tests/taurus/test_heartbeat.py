"""An engine that answers no more is lost."""

import socket

import pytest

import support
from tollgate.taurus import heartbeat


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
        host, at = support.wait_until(followed.lost, "it is lost")
    finally:
        followed.end()
    assert host == listening
    assert at == followed.answered[listening]


def test_nothing_that_listens_is_no_answer():
    with pytest.raises(OSError, match="refused"):
        heartbeat.answer(f"127.0.0.1:{support.free_port()}")
