"""Wherever a plan of JMeter holds a secret, no fragment that is made of it does."""

import pytest
from lxml import etree

from support.jmx_text import element, get, group, plan, posted, row, script
from tollgate.intake.jmx import read_jmx
from tollgate.intake.source import load

SECRET = "S3CRET-of-the-plan"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
TELLS = "may send a secret: have the environment hold it"


def draft(tmp_path, *children, **variables):
    path = tmp_path / "their.jmx"
    path.write_text(plan(*children, **variables))
    return read_jmx(load(str(path)), "shop", tmp_path / "suite")


def texts_of(found):
    """Of all properties of the only fragment."""
    (text,) = found.files.values()
    return [it.text for it in etree.fromstring(text.encode()).iter("stringProp")]


def header(name, value):
    rows = row("Header", value, name)
    table = f'<collectionProp name="HeaderManager.headers">{rows}</collectionProp>'
    return element("HeaderManager", "headers", extra=table)


@pytest.mark.parametrize(
    ("made", "secret", "written"),
    [
        (
            element("JDBCDataSource", "pool", password=SECRET),
            "SHOP_PASSWORD",
            "${__P(SHOP_PASSWORD)}",
        ),
        (
            get("feed", f"/feed?a=1&api_key={SECRET}", port=""),
            "SHOP_API_KEY",
            "/feed?a=1&api_key=${__urlencode(${__P(SHOP_API_KEY)})}",
        ),
        (header("X-Foo", JWT), "SHOP_X_FOO", "${__P(SHOP_X_FOO)}"),
        (
            header("X-Foo", f'{{"id": "${{id}}", "token": "{SECRET}"}}'),
            "SHOP_TOKEN",
            '{"id": "${id}", "token": "${__P(SHOP_TOKEN_json)}"}',
        ),
        (posted(f'{{"password":"{SECRET}"}}', "payload"), "SHOP_PAYLOAD", "${__P(SHOP_PAYLOAD)}"),
        (
            posted(f'{{"user": "ann", "password": "{SECRET}"}}'),
            "SHOP_PASSWORD",
            '{"user": "ann", "password": "${__P(SHOP_PASSWORD_json)}"}',
        ),
        (
            posted(f'{{"id": ${{id}}, "password": "{SECRET}"}}'),
            "SHOP_PASSWORD",
            '{"id": ${id}, "password": "${__P(SHOP_PASSWORD_json)}"}',
        ),
        (
            posted(f"<in><password>{SECRET}</password></in>"),
            "SHOP_PASSWORD",
            "<in><password>${__escapeXml(${__P(SHOP_PASSWORD)})}</password></in>",
        ),
        (
            posted(f"user=ann&password={SECRET}"),
            "SHOP_PASSWORD",
            "user=ann&password=${__urlencode(${__P(SHOP_PASSWORD)})}",
        ),
        (posted(JWT), "SHOP_BODY", "${__P(SHOP_BODY)}"),
    ],
)
def test_a_secret_comes_from_the_environment_wherever_it_stands(tmp_path, made, secret, written):
    found = draft(tmp_path, group(made, get("home", "/", port="")))
    assert [*found.secrets] == [secret]
    assert written in texts_of(found)
    assert not [it for it in (SECRET, JWT) if it in str(found)]
    assert not [it for it in found.remarks if TELLS in it]


def test_what_can_not_be_replaced_beside_a_variable_is_told(tmp_path):
    found = draft(tmp_path, header("X-Foo", f"{JWT} ${{turn}}"), group(get("home", "/", port="")))
    assert [it for it in found.remarks if TELLS in it and "HeaderManager 'headers'" in it]
    assert not found.secrets


def test_flags_hosts_paths_and_variables_are_no_secrets(tmp_path):
    found = draft(
        tmp_path,
        header("Authorization", "Bearer ${token}"),
        group(
            get("orders", "/api/v1/customers/orders2/${id}?token=${token}", port=""),
            posted('{"password": "${password}"}'),
            script("made", "1"),
        ),
        base="https://api-v2.shop01.example.com/v1/items2",
    )
    assert not found.secrets
    assert not [it for it in found.remarks if TELLS in it]
    assert any("'made' is measured like a request" in it for it in found.remarks)
