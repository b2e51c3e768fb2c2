"""A service in another language, which whoever tests it has started: it turns words around."""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Words(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        is_healthy, word = self.path == "/healthz", self.path.removeprefix("/reversed/")
        body = b"ok" if is_healthy else json.dumps({"reversed": word[::-1]}).encode()
        self.send_response(200 if is_healthy or word != self.path else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments):
        """Print nothing for each request."""


if __name__ == "__main__":
    address = ("127.0.0.1", int(os.environ.get("PORT", "8000")))
    ThreadingHTTPServer(address, Words).serve_forever()
