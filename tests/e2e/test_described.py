"""Services from OpenAPI documents that nobody here wrote: each is checked and compared."""

import json
import re
from pathlib import Path

import pytest

import support
from e2e.bzt_run import LENIENT, Run
from e2e.comparing import SHORT
from support import services
from support.http_server import Handler, serving
from support.project_copy import copy_project, new_target
from tollgate.intake.document import Document
from tollgate.intake.openapi_answers import answer_of
from tollgate.intake.source import load
from tollgate.intake.values import Budget, Draws, drawn

DOCUMENTS = Path(support.ROOT) / "tests" / "intake"
PETSTORE, HTTPBIN = (DOCUMENTS / f"{it}.openapi.json" for it in ("petstore", "httpbin"))
CHECK = {
    "modules": {
        "verdict": LENIENT,
        "stop-when-decided": {"budget": "off"},
        "jmeter": {"properties": {"warmup": 1, "measured": 6}},
    }
}
#: Of errors some dozens of answers tell enough.
QUICK = (*SHORT, "modules.compare.gates=errors", "modules.jmeter.properties.period=250")
SECRETS = {"PETS_API_KEY": "key-of-pets", "PETS_PETSTORE_AUTH": "token", "PETS_PASSWORD": "a&b"}
READING = {
    *("findPetsByStatus", "findPetsByTags", "getPetById", "getInventory", "getOrderById"),
    *("loginUser", "logoutUser", "getUserByName"),
}


def answers():
    """(pattern of a path, operation, body) of what reads, as the document describes them."""
    document, draws = Document(load(str(PETSTORE))), Draws.of(1, Budget())
    for it in map(document.completed, document.operations()):
        if it.method == "GET":
            _, _, schema = answer_of(document, it)
            place = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(document.base[1] + it.path))
            yield place, it.described, json.dumps(drawn(schema, draws))


class Pets(Handler):
    """Answers as the document says, and only whoever has the secrets that it asks for."""

    def respond(self):
        path, _, query = self.path.partition("?")
        for pattern, described, body in self.server.answers:
            if re.fullmatch(pattern, path):
                fits = self.may(described.get("security"), query)
                self.answer(200 if fits else 403, body, Content_Type="application/json")
                return
        self.answer(404)

    def may(self, needed, query):
        if "password=" in query and not query.endswith("password=a%26b"):
            return False
        given = {
            "api_key": self.headers.get("api_key") == SECRETS["PETS_API_KEY"],
            "petstore_auth": self.headers.get("Authorization") == "Bearer token",
        }
        return all(given[name] for it in needed or () for name in it)


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return copy_project(tmp_path_factory.mktemp("described") / "suite")


@pytest.fixture
def pets():
    """The URLs of two of them."""
    state = {"answers": list(answers())}
    with serving(Pets, **state) as base, serving(Pets, **state) as head:
        yield [f"http://127.0.0.1:{it.server_port}" for it in (base, head)]


def described(suite, *words):
    made = new_target(suite, *words)
    assert made.returncode == 0, made.stderr
    return made.stdout


@pytest.mark.long
def test_a_document_of_twenty_operations_is_checked_with_its_secrets(suite, pets, tmp_path):
    said = described(suite, "pets", "--from", PETSTORE, "--url", pets[0])
    assert "left out, because they may write: POST /pet, PUT /pet" in said
    ran = Run(tmp_path, config=CHECK, alias="pets", root=suite, **SECRETS).end()
    assert {it["label"] for it in ran.samples} == READING, ran.output
    assert ran.all_answered_right, ran.output
    written = [it for it in (*ran.folder.rglob("*"), suite / "taurus.yml") if it.is_file()]
    texts = [it.read_bytes() for it in written]
    assert not any(SECRETS["PETS_API_KEY"].encode() in text for text in texts)


@pytest.mark.long
def test_a_document_of_twenty_operations_is_compared(suite, pets, tmp_path):
    described(suite, "pets-too", "--from", PETSTORE, "--url", pets[0])
    own = {name.replace("PETS_", "PETS_TOO_"): it for name, it in SECRETS.items()}
    sides = dict(zip(("BASE_URL", "HEAD_URL"), pets, strict=True))
    ended = Run(tmp_path, *QUICK, alias="pets-too compare", root=suite, **own, **sides).end()
    assert ended.outcome[1] != "FAIL", ended.output
    assert ended.blamed <= {"generator", "machine"}, ended.output
    found = {it["label"] for it in ended.execution["comparison"]["findings"]}
    assert found >= READING


@pytest.fixture(scope="module")
def httpbin(tmp_path_factory):
    """The URLs of two of them, each with threads: some of its answers take seconds."""
    folder = tmp_path_factory.mktemp("httpbin") / "environment"
    with services.serving_httpbin(folder, 2, "--threads=8", "--keep-alive=300") as urls:
        yield urls


@pytest.mark.services
def test_what_httpbin_says_of_itself_is_checked_and_compared(suite, httpbin, tmp_path):
    env = support.environment(BIN_PASSWD="swordfish")
    command = suite / ".venv" / "bin" / "tollgate"
    words = ("new", "target", "bin", "--from", HTTPBIN, "--url", httpbin[0])
    made = support.run(command, *words, cwd=suite, env=env)
    assert made.returncode == 0, made.stderr
    left = re.findall(r"left out '(.*?)'", made.stdout)
    assert {it for it in left if "digest-auth" not in it} == {
        *("GET /basic-auth/{user}/{passwd}", "GET /hidden-basic-auth/{user}/{passwd}"),
        *("GET /bearer", "GET /delay/{delay}", "GET /status/{codes}"),
    }
    asked = Run(tmp_path / "check", config=CHECK, alias="bin", root=suite).end()
    assert asked.all_answered_right, asked.output
    assert len({it["label"] for it in asked.samples}) >= 20
    sides = {"BASE_URL": httpbin[0], "HEAD_URL": httpbin[1]}
    ended = Run(tmp_path / "compare", *QUICK, alias="bin compare", root=suite, **sides).end()
    assert ended.outcome[1] != "FAIL", ended.output
    assert ended.blamed <= {"generator", "machine"}, ended.output
