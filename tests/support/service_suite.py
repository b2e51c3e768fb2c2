"""A suite of a team with services that are not ours: they stand in taurus.yml and
ecosystem.config.js, beside repositories and environments of their owners."""

import json

import support
from support import services
from support.git_repos import Repo
from support.project_copy import copy_project

#: A service in Python, which PM2 runs as it is.
PYTHON_APP = '''
"""The n-th Fibonacci number."""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        wanted, a, b = self.path[1:], 0, 1
        for _ in range(int(wanted) if wanted.isdecimal() else 0):
            a, b = b, a + b
        body = json.dumps({"n": wanted, "fibonacci": str(a)}).encode()
        self.send_response(200 if wanted.isdecimal() else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
'''
#: What each service is asked, by the name of its scenario.
REQUESTS = {
    "shop": [
        {
            **{"label": "list", "url": "/items?page=${page}", "weight": 4},
            "assert": [{"contains": ['"items"']}],
        },
        {
            "label": "item",
            "url": "/items/${id}",
            "weight": 4,
            "assert": [{"contains": ['"price"']}],
        },
        {"label": "find", "url": "/search?q=${word}", "weight": 2, "assert": ['"found"']},
        {
            **{"label": "order", "url": "/orders", "method": "POST", "weight": 1},
            **{"headers": {"Content-Type": "application/json"}, "body": {"item": "${id}"}},
            "assert": ['"order"'],
        },
        {
            **{"transaction": "visit", "weight": 1},
            "do": [
                {
                    **{"url": "/login", "method": "POST", "body": {"visitor": "v${id}"}},
                    **{"label": "login", "headers": {"Content-Type": "application/json"}},
                },
                {"label": "put", "url": "/cart/${id}", "method": "POST", "assert": ['"lines":1']},
                {"label": "cart", "url": "/cart", "assert": ['"total"']},
            ],
        },
    ],
    "registry": [
        {"label": "metadata", "url": "/library-${number}", "weight": 5, "assert": ["dist-tags"]},
        {
            **{"label": "tarball", "weight": 3},
            "url": "/library-${number}/-/library-${number}-1.${number}.0.tgz",
        },
        {
            **{"label": "find", "url": "/-/v1/search?text=library-${number}", "weight": 1},
            "assert": ["objects"],
        },
        {"label": "ping", "url": "/-/ping", "weight": 1},
    ],
    "httpbin": [
        {"label": "get", "url": "/get?n=${number}", "weight": 3, "assert": ['"args"']},
        {
            **{"label": "post", "url": "/post", "method": "POST", "weight": 1},
            **{"body": {"n": "${number}"}, "assert": ['"form"']},
        },
        {"label": "json", "url": "/json", "weight": 2, "assert": ["slideshow"]},
        {"label": "headers", "url": "/headers", "weight": 1, "assert": ["Host"]},
    ],
    "fibonacci": [
        {"label": "small", "url": "/${number}", "weight": 3, "assert": ['"fibonacci"']},
        {"label": "large", "url": "/3000", "weight": 1, "assert": ['"fibonacci"']},
    ],
}


class ServiceSuite:
    """A copy of the project with those services; each is installed when it is asked for."""

    def __init__(self, folder):
        self.folder = folder
        self.suite = copy_project(folder / "suite")
        self.apps = []
        self.scenarios = {}
        rows = "".join(f"{n},{n * 37 % 2000},{n % 20 + 1},{word}\n" for n, word in _visitors())
        (self.suite / "data" / "visitors.csv").write_text(f"page,id,number,word\n{rows}")

    def shop(self, **more):
        """Express 5 in the working tree, 4 one commit before."""
        self.repo = services.shop(self.folder / "shop")
        services.install(self.repo)
        self._app("shop", self.repo, script="shop.js", wait_ready=True)
        return self._service("shop", app="shop", **more)

    def registry(self, **more):
        """Verdaccio 6 in the working tree, 5 one commit before."""
        self.repo = services.registry(self.folder / "registry")
        services.install(self.repo)
        listen = "--listen 127.0.0.1:${PORT} --config config.yaml"
        script = "node_modules/verdaccio/bin/verdaccio"
        self._app("registry", self.repo, script=script, args=listen)
        return self._service("registry", app="registry", **more)

    def fibonacci(self, **more):
        """A service in Python."""
        self.repo = Repo(self.folder / "fibonacci")
        self.repo.root.mkdir()
        self.repo.git("init", "--quiet", "--initial-branch=main")
        self.repo.commit(PYTHON_APP, "app.py")
        self._app("fibonacci", self.repo, script="app.py", interpreter="python3")
        return self._service("fibonacci", app="fibonacci", **more)

    def httpbin(self, *urls, **more):
        """By URL: who calls has started it."""
        return self._service("httpbin", urls=list(urls), **more)

    def _app(self, name, repo, **settings):
        env = {"PORT": str(support.free_port())}
        self.apps.append({"name": name, "cwd": str(repo.root), "env": env, **settings})
        text = f"'use strict';\n\nmodule.exports = {json.dumps({'apps': self.apps}, indent=2)};\n"
        (self.suite / "ecosystem.config.js").write_text(text)

    def _service(self, name, **more):
        """What taurus.yml gets; returns all of it, for bzt's second file."""
        described = {"requests": REQUESTS[name], "data-sources": ["data/visitors.csv"]}
        self.scenarios[name] = {**described, "criteria": ["fail>60%"], **more}
        return {"scenarios": self.scenarios}


def _visitors():
    words = ("apple", "drum", "globe", "candle 1", "flute 20")
    return ((n, words[n % len(words)]) for n in range(100))
