"""Whether remote engines still answer while they send.

JMeter waits for ever for an engine that has died or was cut off. So each is asked once a second for
the beginning of a TLS handshake, which only its living JVM can give.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Iterable

#: Seconds between two questions, for one answer, and without any after which an engine is lost: on
#: a machine that is busy an answer may take its time.
EVERY_S, ANSWER_S, LOST_S = 1.0, 5.0, 15.0


class Heartbeat:
    """answered: when each host last did, in seconds since the epoch."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self.answered = dict.fromkeys(hosts, time.time())
        self._is_over = threading.Event()
        self._threads = [
            threading.Thread(target=self._follow, args=(host,), daemon=True)
            for host in self.answered
        ]
        for each in self._threads:
            each.start()

    def lost(self) -> dict[str, float]:
        """The hosts that answer no more, and when each last did; none while all do. Beside one that
        is lost stand those that have been silent for half as long."""
        silent = {host: time.time() - at for host, at in self.answered.items()}
        if max(silent.values()) <= LOST_S:
            return {}
        return {host: self.answered[host] for host, s in silent.items() if s > LOST_S / 2}

    def end(self) -> None:
        self._is_over.set()
        for each in self._threads:
            each.join()

    def _follow(self, host: str) -> None:
        while not self._is_over.is_set():
            asked_at = time.time()
            with contextlib.suppress(OSError):
                answer(host)
                self.answered[host] = asked_at
            self._is_over.wait(max(0.0, asked_at + EVERY_S - time.time()))


def answer(host: str) -> None:
    """Returns once the engine has answered a TLS greeting, be it by an alert. Raises OSError where
    it does not answer, or hangs up."""
    name, _, port = host.rpartition(":")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Only whether it lives: who it is, it has proven before, and JMeter goes on to check.
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection((name, int(port)), ANSWER_S) as connection:
        try:
            with context.wrap_socket(connection):
                pass
        except ssl.SSLEOFError:
            raise
        except ssl.SSLError:
            pass  # an alert: it wants a key to be shown, which is an answer as well
