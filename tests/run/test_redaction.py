"""What is taken for a secret, and what is left of texts and settings without it."""

from __future__ import annotations

import re

import pytest
import yaml
from bzt import TaurusConfigError

from jmx_text import document, element, group, plan, sampler
from support import PLANS
from tollgate.base.paths import ROOT
from tollgate.gather.refusals import told_properties
from tollgate.run.redaction import MARK, Redaction, is_secret

SECRET = (
    *("pass", "PASS", "db.pass", "dbPass", "password", "userpassword", "storepass", "pwd", "PW"),
    *("token", "api_token", "apiToken", "API_TOKEN", "JWTToken", "tokens", "token2", "authtoken"),
    *(
        "secret",
        "client-secret",
        "clientSecret",
        "key",
        "api.key",
        "APIKey",
        "apikey",
        "licenceKey",
    ),
    *("key_rate", "javax.net.ssl.keyStorePassword", "credentials", "Authorization", "auth"),
)
HARMLESS = (
    *(
        "keyword",
        "monkey",
        "compass",
        "bypass",
        "passed",
        "inconclusive-passes",
        "passfail",
        "turnkey",
    ),
    *("javax.net.ssl.keyStore", "keystore", "key_file", "token_url", "tokenizer", "secretary"),
    *("author", "authority", "path", "user.classpath", "host", "https.keyStoreStartIndex", ""),
)


@pytest.mark.parametrize("name", SECRET)
def test_a_name_with_a_word_for_a_secret_stands_for_one(name) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", HARMLESS)
def test_a_word_that_only_holds_one_does_not(name) -> None:
    assert not is_secret(name)


def test_nothing_of_the_projects_own_is_taken_for_a_secret() -> None:
    read = (re.findall(r"__P\((\w+)", it.read_text()) for it in PLANS.rglob("*.jmx"))
    names = {name for each in read for name in each}
    assert "warmup" in names
    assert [name for name in names if is_secret(name)] == []
    settings = yaml.safe_load((ROOT / "taurus.yml").read_text())
    assert Redaction().settings(settings) == settings


def test_settings_are_redacted_however_deep_they_are() -> None:
    given = {
        "scenarios": {
            "token-service": {
                "url": "http://127.0.0.1:1",
                "headers": [{"Authorization": "Bearer abc"}],
                "properties": {"rate": 5, "secret": {"of": {"whom": "abc"}}, "api": {"token": 7}},
            }
        },
        "modules": {"x": {"password": "", "use-token": True, "auth": "false", "keys": ["a", "b"]}},
    }
    service = {
        "url": "http://127.0.0.1:1",
        "headers": [{"Authorization": MARK}],
        "properties": {"rate": 5, "secret": {"of": {"whom": MARK}}, "api": {"token": MARK}},
    }
    assert Redaction().settings(given) == {
        "scenarios": {"token-service": service},
        "modules": {"x": {"password": "", "use-token": True, "auth": "false", "keys": [MARK] * 2}},
    }


def test_properties_are_texts_also_where_a_dot_made_a_path_of_their_name() -> None:
    given = {"rate": 5, "api": {"token": "abc"}, "on": False}
    assert Redaction().properties(given) == {
        "rate": "5",
        "api": f"{{'token': '{MARK}'}}",
        "on": "False",
    }


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("modules.jmeter.properties.api_token=a=b", f"modules.jmeter.properties.api_token={MARK}"),
        ("modules.jmeter.properties.token.of=a", f"modules.jmeter.properties.token.of={MARK}"),
        ("-omodules.x.password=a b", f"-omodules.x.password={MARK}"),
        ("--option=modules.x.password=a", f"--option=modules.x.password={MARK}"),
        ("scenarios.token-service.url=http://a:1", "scenarios.token-service.url=http://a:1"),
        ("modules.x.url=http://a:b@c/?key=d", f"modules.x.url=http://{MARK}@c/?key={MARK}"),
        ("http://c/?a=1&api_key=d#e", f"http://c/?a=1&api_key={MARK}#e"),
        ("plans/token=1.jmx", "plans/token=1.jmx"),
        ("-compare", "-compare"),
    ],
)
def test_arguments_are_redacted_by_the_setting_that_they_name(given, told) -> None:
    assert Redaction().arguments([given]) == [told]


def test_what_was_redacted_is_hidden_however_it_is_written() -> None:
    redaction = Redaction()
    assert redaction.hide('a "secret" <one>') == 'a "secret" <one>'
    redaction.settings(
        {"password": 'a "secret" <one>', "token": "longer than longer", "pin.key": 47}
    )
    redaction.settings({"token": "longer"})
    log = "\n".join(
        (
            '{"x": "a \\"secret\\" <one>"} and a &quot;secret&quot; &lt;one&gt;',
            "longer than longer, longer",
            "X-Key: 47, 'key': '47', [key]=47, key=471, 47 s",
        )
    )
    assert redaction.hide(log).splitlines() == [
        f'{{"x": "{MARK}"}} and {MARK}',
        f"{MARK}, {MARK}",
        f"X-Key: {MARK}, 'key': '{MARK}', [key]={MARK}, key=471, 47 s",
    ]


def load_of(tmp_path, **changes) -> object:
    """The file of a plan whose header may hold what it likes."""
    header = element("HeaderManager", "who", Header__value="${__P(api_token)}")
    path = tmp_path / "their.jmx"
    path.write_text(plan(group(header, sampler("${__P(label_key,home)}"), **changes)))
    return path


def test_a_secret_that_the_load_does_not_depend_on_is_told_by_its_mark(tmp_path) -> None:
    given = {"api_token": "abc", "users": 3}
    told = told_properties(load_of(tmp_path), given, "x")
    assert told == {"api_token": MARK, "users": "3"}


@pytest.mark.parametrize(
    ("given", "changes"),
    [
        ({"label_key": "cart"}, {}),
        ({"key_rate": 3}, {"threads": "${__P(key_rate,1)}"}),
        ({"key_rate": 3}, {"duration": "${__intSum(${__P(key_rate,1)},2)}"}),
    ],
)
def test_one_that_it_depends_on_is_refused_by_its_name(tmp_path, given, changes) -> None:
    path = load_of(tmp_path, **changes)
    with pytest.raises(TaurusConfigError) as refused:
        told_properties(path, {**given, "api_token": "abc"}, "verdict: execution 'plan'")
    (name,) = given
    assert f"verdict: execution 'plan': run.json tells {MARK} for the property {name}, " in str(
        refused.value
    )
    assert "abc" not in str(refused.value)


def test_a_file_that_is_no_plan_is_not_read_without_need(tmp_path) -> None:
    (tmp_path / "their.jmx").write_text(document())
    assert told_properties(tmp_path / "nowhere.jmx", {"rate": 5}, "x") == {"rate": "5"}
