"""Which ports a run gives its JMeters and its servers."""

import socket

import pytest

from tollgate.targets import lock


@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_STREAM])
def test_a_port_that_somebody_has_is_left_alone(kind):
    with socket.socket(type=kind) as foreign:
        foreign.bind(("127.0.0.1", 0))
        taken = foreign.getsockname()[1]
        found = {lock.free_port(kind) for _ in range(20)}
    assert taken not in found
    for port in found:
        with socket.socket(type=kind) as mine:
            mine.bind(("127.0.0.1", port))
