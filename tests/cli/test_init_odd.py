"""`tollgate init` where a file, or an answer, is not as it mostly is."""

import json

import pytest
import yaml

from tollgate.cli.init import command
from tollgate.cli.init.ci import PLACES

SERVER = "require('http').createServer().listen(process.env.PORT || 8123);\n"
LIST = {"get": {"operationId": "list", "responses": {"200": {"description": "all"}}}}
OPENAPI = {
    "openapi": "3.0.0",
    "info": {"title": "shop", "version": "1"},
    "paths": {"/items": LIST},
}


@pytest.fixture
def root(tmp_path):
    """A repository with a service."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "package.json").write_text('{"name": "shop", "main": "server.js"}')
    (tmp_path / "server.js").write_text(SERVER)
    return tmp_path


@pytest.fixture
def documented(root):
    """One that has a document as well."""
    (root / "openapi.json").write_text(json.dumps(OPENAPI))
    return root


@pytest.fixture
def on_terminal(monkeypatch):
    """Has answers be given on a terminal, until the input ends."""

    def answer(*words):
        given = iter(words)

        def read(_):
            word = next(given, None)
            if word is None:
                raise EOFError
            return word

        monkeypatch.setattr(command, "_is_terminal", lambda: True)
        monkeypatch.setattr("builtins.input", read)

    return answer


def service_of(root):
    return yaml.safe_load((root / "taurus.yml").read_text())["scenarios"]["shop"]


def test_an_operation_that_a_document_does_not_have_is_named_and_nothing_is_written(
    refusal, documented
):
    said = refusal("init", documented, "--request", "lst")
    assert "--request 'lst' is no operation of the document" in said
    assert not (documented / "taurus.yml").exists()


def test_without_its_document_the_id_of_an_operation_is_refused(refusal, documented, on_terminal):
    on_terminal("shop", "no")
    said = refusal("init", documented, "--request", "list")
    assert "--request 'list' is none: write a method and a path" in said
    assert not (documented / "taurus.yml").exists()


def test_a_method_and_a_path_are_asked_also_where_a_recording_is_there(tollgate, root):
    (root / "visit.har").write_text("{}")
    code, out, err = tollgate("init", root, "--request", "GET /items")
    assert code == 0, err
    assert "its requests are left to you" in out
    assert [it["url"] for it in service_of(root)["requests"]] == ["/items"]


@pytest.mark.parametrize("answer", ["Yes", "Y"])
def test_yes_may_begin_with_a_capital(tollgate, documented, on_terminal, answer):
    on_terminal("shop", answer)
    code, _, err = tollgate("init", documented)
    assert code == 0, err
    assert [it["label"] for it in service_of(documented)["requests"]] == ["list"]


def test_where_the_input_ends_nothing_is_written(refusal, root, on_terminal):
    on_terminal()
    assert "'name of the service' got no answer" in refusal("init", root)
    assert not (root / "taurus.yml").exists()


def test_a_gitignore_that_is_no_utf_8_is_named_and_nothing_is_written(refusal, root):
    (root / ".gitignore").write_bytes(b"m\xfcll\n")
    assert ".gitignore can't be read: 'utf-8' codec" in refusal("init", root)
    assert not (root / "taurus.yml").exists()


def test_files_keep_their_line_ends(tollgate, root):
    before = {
        "taurus.yml": b"# mine\r\nscenarios:\r\n  old: {script: a.jmx}\r\n",
        ".gitignore": b"node_modules\r\n",
    }
    for name, text in before.items():
        (root / name).write_bytes(text)
    code, _, err = tollgate("init", root)
    assert code == 0, err
    for name, text in before.items():
        after = (root / name).read_bytes()
        assert after.startswith(text)
        assert after.count(b"\n") == after.count(b"\r\n") > text.count(b"\r\n")
    assert b"\r" not in (root / "ecosystem.config.js").read_bytes()


def test_the_only_variable_of_a_service_may_stand_without_a_list(tollgate, root):
    service = "shop: {app: shop, environment: SHOP_PASSWORD, requests: [{label: home, url: /}]}"
    (root / "taurus.yml").write_text(f"scenarios:\n  {service}\n")
    code, _, err = tollgate("init", root)
    assert code == 0, err
    github = yaml.safe_load((root / PLACES["github.yml"]).read_text())
    variables = github["jobs"]["measure"]["env"]
    assert variables == {"SHOP_PASSWORD": "${{ secrets.SHOP_PASSWORD }}"}


def test_a_url_that_is_none_is_refused_in_one_line(refusal, root):
    assert "'http://[x'" in refusal("init", root, "--url", "http://[x")


def test_a_question_says_a_file_s_name_without_what_moves_the_cursor(tollgate, root, monkeypatch):
    (root / "a\x1b[2J\u202e.har").write_text("{}")
    questions = []
    monkeypatch.setattr(command, "_is_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda it: questions.append(it) or "")
    assert tollgate("init", root)[0] == 0
    assert "requests from a?[2J?.har? yes or no [yes]: " in questions


def test_a_package_that_is_nested_without_end_is_refused_in_one_line(refusal, root):
    (root / "package.json").write_text("[" * 100_000)
    assert "package.json can't be read: " in refusal("init", root)


def test_a_link_that_leads_out_of_the_repository_is_not_read(tollgate, root, tmp_path):
    outside = tmp_path.parent / f"{tmp_path.name}.har"
    outside.write_text("{}")
    (root / "visit.har").symlink_to(outside)
    code, out, err = tollgate("init", root)
    assert code == 0, err
    assert "visit.har" not in out
