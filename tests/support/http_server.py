"""A small HTTP server of a test's own, on a free port, in a thread."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Keeps connections open and logs nothing; `respond` is for each server to define."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.respond()

    def do_POST(self):
        self.respond()

    def do_PUT(self):
        self.respond()

    def do_DELETE(self):
        self.respond()

    def answer(self, status=200, body=b"", **headers):
        """Send a whole answer. headers: an underscore stands for a dash."""
        sent = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_):
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    #: Connections that wait; with Python's own five, more at once were refused on a busy machine.
    request_queue_size = 128


@contextmanager
def serving(handler, **state):
    """The server, with this state as its attributes and a `lock` for it."""
    server = _Server(("127.0.0.1", 0), handler)
    server.lock = threading.Lock()
    vars(server).update(state)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
