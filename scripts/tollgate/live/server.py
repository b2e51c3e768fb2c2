"""The server of the live page: on the loopback, on a free port, for whoever knows the token in the
address. It has a thread of its own, and knows nothing of the run but what `publish` gives it.

Each client gets the newest snapshot, however slow it is, so that memory does not grow.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import threading
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

from aiohttp import web

from tollgate.live.gate import Gate

#: Milliseconds until a browser that has lost the run asks again.
RETRY_MS = 1000
#: Pages that may be open at once.
MOST_CLIENTS = 16
#: Seconds without a snapshot after which a comment shows that the run is there, and that a run
#: waits at its end for the pages that are open to take its own page.
ALIVE_S, LAST_S = 5.0, 5.0
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_FRAMES = "frame-ancestors 'none'"


class LiveServer:
    """url: of the page. clients: pages that are open, as far as is known."""

    def __init__(self, page: str, policy: str) -> None:
        """policy: the page's Content Security Policy."""
        self.clients = 0
        self.url = ""
        self._page, self._policy = page, f"{policy}; {_FRAMES}"
        self._token = secrets.token_urlsafe(16)
        self._newest, self._number = "", 0
        self._is_over = False
        self._report: Path | None = None
        self._taken = 0  # how many have taken the run's page
        self._ready: Future[str] = Future()
        self._thread = threading.Thread(target=self._run, name="live", daemon=True)

    def start(self) -> None:
        """Raises OSError where there is no port."""
        self._thread.start()
        self.url = self._ready.result(LAST_S)

    def publish(self, snapshot: str) -> None:
        """Send it to all. snapshot: one line."""
        asyncio.run_coroutine_threadsafe(self._offer(snapshot), self._loop)

    def end(self, snapshot: str, report: Path | None) -> None:
        """Send the last snapshot, and wait until those who see the page have it, and the run's page
        where there is one. report: has the address of the live page from now on."""
        ended = asyncio.run_coroutine_threadsafe(self._end(snapshot, report), self._loop)
        ended.result(2 * LAST_S)

    def close(self) -> None:
        """Leave neither port nor thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._closing.set)
            self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())  # ends streams that are left
        except Exception as problem:
            if self._ready.done():
                raise
            self._ready.set_exception(problem)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._changed, self._closing = asyncio.Condition(), asyncio.Event()
        application = web.Application()
        application.add_routes(
            [web.get("/{token}/", self._show), web.get("/{token}/events", self._events)]
        )
        # Streams end with the run, not when their readers like.
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1)
        await runner.setup()
        gate = Gate(runner.server, self._token)
        listening = await gate.listen()
        port = listening.sockets[0].getsockname()[1]
        self._ready.set_result(f"http://127.0.0.1:{port}/{self._token}/")
        await self._closing.wait()
        listening.close()
        gate.close()
        await runner.cleanup()

    def _check(self, request: web.Request) -> None:
        """Raises HTTPNotFound, which says nothing, for whoever does not know the token."""
        if not hmac.compare_digest(request.match_info["token"].encode(), self._token.encode()):
            raise web.HTTPNotFound

    async def _show(self, request: web.Request) -> web.Response:
        self._check(request)
        text, policy = self._page, self._policy
        if self._report:
            # It has a policy of its own in its head.
            text, policy = self._report.read_text(encoding="utf-8"), _FRAMES
        headers = {**_HEADERS, "Content-Security-Policy": policy}
        response = web.Response(text=text, content_type="text/html", headers=headers)
        if self._report:
            await response.prepare(request)
            await response.write_eof()
            self._taken += 1
        return response

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html."""
        self._check(request)
        if self.clients >= MOST_CLIENTS:
            raise web.HTTPServiceUnavailable
        headers = {**_HEADERS, "Content-Type": "text/event-stream"}
        response = web.StreamResponse(headers=headers)
        self.clients += 1
        try:
            with suppress(ConnectionError):  # the page was closed
                await response.prepare(request)
                await response.write(f"retry: {RETRY_MS}\n\n".encode())
                await self._follow(response)
        finally:
            self.clients -= 1
        return response

    async def _follow(self, response: web.StreamResponse) -> None:
        sent, ends = 0, False
        while not ends:
            text = ": still there\n\n"
            if sent != self._number:
                sent, ends = self._number, self._is_over
                text = f"data: {self._newest}\n\n"
            await response.write(text.encode())
            async with self._changed:
                if sent == self._number and not ends:
                    with suppress(asyncio.TimeoutError):
                        await asyncio.wait_for(self._changed.wait(), ALIVE_S)

    async def _offer(
        self, snapshot: str, is_over: bool = False, report: Path | None = None
    ) -> None:
        async with self._changed:
            self._newest, self._number = snapshot, self._number + 1
            self._is_over, self._report = is_over, report
            self._changed.notify_all()

    async def _end(self, snapshot: str, report: Path | None) -> None:
        waiting = self.clients
        await self._offer(snapshot, True, report)
        deadline = self._loop.time() + LAST_S
        while self.clients or (report and self._taken < waiting):
            if self._loop.time() >= deadline:
                return
            await asyncio.sleep(0.05)
