"""Who gets through to the live page's server: a connection whose request names the token.

Any process of the machine, and any page in a browser on it, can open a port of the loopback. What
it may take from a run is a few connections for a few seconds, and not a line of the log.
"""

from __future__ import annotations

import asyncio
import hmac
from typing import cast

from aiohttp import web

#: Connections that may be open at once, and that the kernel may keep waiting.
MOST_CONNECTIONS, BACKLOG = 32, 32
#: Seconds and bytes until a request has told all its headers.
HEAD_S, HEAD_BYTES = 5.0, 32_768
_REFUSAL = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Gate:
    """Counts connections. `waiting` are those that have not named the token, the oldest first."""

    def __init__(self, server: web.Server, token: str) -> None:
        self.server, self.prefix = server, f"/{token}/".encode()
        self.waiting: dict[Visitor, None] = {}

    async def listen(self) -> asyncio.Server:
        """Open a free port of the loopback."""
        loop = asyncio.get_running_loop()
        return await loop.create_server(lambda: Visitor(self), "127.0.0.1", 0, backlog=BACKLOG)

    def make_room(self) -> bool:
        """Let the stranger that has waited longest give way where that takes it; whether one more
        may come in."""
        if len(self.waiting) + len(self.server.connections) < MOST_CONNECTIONS:
            return True
        oldest = next(iter(self.waiting), None)
        if oldest:
            oldest.end()
        return oldest is not None

    def close(self) -> None:
        """End those that wait."""
        for visitor in list(self.waiting):
            visitor.end()


class Visitor(asyncio.Protocol):
    """A connection until its first request has told its headers; then it is the server's."""

    _transport: asyncio.Transport

    def __init__(self, gate: Gate) -> None:
        self._gate, self._head = gate, b""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for a request, for a while."""
        self._transport = cast("asyncio.Transport", transport)
        if not self._gate.make_room():
            self._transport.abort()
            return
        self._gate.waiting[self] = None
        self._timer = asyncio.get_running_loop().call_later(HEAD_S, self.end)

    def data_received(self, data: bytes) -> None:
        """Refuse a request that has named its path without the token. Not a byte earlier, or it
        could be guessed byte by byte."""
        self._head += data
        words = self._head.partition(b"\n")[0].split(b" ", 2)
        named = words[1][: len(self._gate.prefix)] if len(words) > 1 else b""
        is_told = len(words) > 2 or b"\n" in self._head or len(named) == len(self._gate.prefix)
        if is_told and not hmac.compare_digest(named, self._gate.prefix):
            self._transport.write(_REFUSAL)
            self._stop_waiting()
            self._transport.close()
        elif b"\r\n\r\n" in self._head:
            self._hand_over()
        elif len(self._head) > HEAD_BYTES:
            self.end()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        """The other side has closed it, or `end` has."""
        self._stop_waiting()

    def end(self) -> None:
        """Close it without a word."""
        self._stop_waiting()
        self._transport.abort()

    def _hand_over(self) -> None:
        """Leave the connection to the server, with what has been read of it."""
        self._stop_waiting()
        handler = self._gate.server()
        self._transport.set_protocol(handler)
        handler.connection_made(self._transport)
        handler.data_received(self._head)

    def _stop_waiting(self) -> None:
        """Be no more among the connections whose request is not known yet."""
        self._gate.waiting.pop(self, None)
        if self._timer:
            self._timer.cancel()
