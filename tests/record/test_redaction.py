"""What is taken for a secret, and what is left of texts and settings without it."""

import re

import pytest
import yaml
from bzt import TaurusConfigError
from hypothesis import assume, example, given
from hypothesis import strategies as st

from support import PLANS
from support.jmx_text import document, element, group, plan, sampler
from tollgate.base.paths import SUITE
from tollgate.record.redaction import MARK, Redaction, is_secret
from tollgate.taurus.refusals import recorded_properties


def words(text):
    return text.split()


SECRET = words("""
    pass PASS db.pass dbPass password userpassword storepass pwd PW token api_token apiToken
    API_TOKEN JWTToken tokens token2 authtoken secret client-secret clientSecret key api.key
    APIKey apikey licenceKey rate_key javax.net.ssl.keyStorePassword credentials Authorization auth
""")
HARMLESS = words("""
    keyword monkey compass bypass passed inconclusive-passes passfail turnkey javax.net.ssl.keyStore
    keystore key_file token_url tokenizer secretary author authority path user.classpath host
    https.keyStoreStartIndex
""")


@pytest.mark.parametrize("name", SECRET)
def test_a_name_with_a_word_for_a_secret_stands_for_one(name):
    assert is_secret(name)


@pytest.mark.parametrize("name", [*HARMLESS, ""])
def test_a_word_that_only_holds_one_does_not(name):
    assert not is_secret(name)


#: Sentry's denylist, in sentry_sdk/scrubber.py, but for an address.
SENTRYS = words("""
    password passwd secret api_key apikey auth credentials mysql_pwd privatekey private_key token
    session csrftoken sessionid x_csrftoken set_cookie cookie authorization proxy-authorization
    x_api_key aiohttp_session connect.sid csrf_token csrf _csrf _csrf_token PHPSESSID _session
    symfony user_session _xsrf XSRF-TOKEN
""")
OURS = words("""
    session_id JSESSIONID dsn connection_string otp sas github_pat sig X-Amz-Signature
    X-Amz-Security-Token access_token client_secret db_pass
""")
READABLE = words("""
    max_tokens pass_rate key_count requests_per_session session_length cookie_policy token_ttl
    sessions signal pattern asset users
""")
WAYS_TO_SPELL = {
    "snake": "_".join,
    "kebab": "-".join,
    "dots": ".".join,
    "upper": lambda words: "_".join(words).upper(),
    "camel": lambda words: words[0] + "".join(it.capitalize() for it in words[1:]),
    "pascal": lambda words: "".join(it.capitalize() for it in words),
}


@st.composite
def spelt(draw, names):
    name = draw(st.sampled_from(names))
    words = [it.lower() for it in re.split(r"[^A-Za-z]+", name) if it]
    return draw(st.sampled_from([name, *(way(words) for way in WAYS_TO_SPELL.values())]))


@st.composite
def encoded(draw, names):
    """A name in any spelling, some characters of which are percent-encoded, once or twice."""
    name = draw(spelt(names))
    for _ in range(draw(st.integers(0, 2))):
        chosen = draw(st.sets(st.integers(0, len(name) - 1)))
        name = "".join(f"%{ord(it):02X}" if at in chosen else it for at, it in enumerate(name))
    return name


VALUES = st.from_regex(r"[A-Za-z0-9._~-]{1,20}", fullmatch=True)
#: A name and a value as texts have them.
PLACES = {
    "query": "http://127.0.0.1:1/a?b=1&{}={}&c=2",
    "first of the query": "http://127.0.0.1:1/a?{}={}#d",
    "fragment": "http://127.0.0.1:1/a#{}={}",
    "environment": "A=1 {}={} B=2",
    "property": "-Xmx1g -J{}={} -Db=2",
}
HEADERS = {
    "header": "Host: a\n{}: Bearer {}\nAccept: b",
    "command": "curl -H '{}: Bearer {}' http://127.0.0.1:1",
    "JSON": '{{"a": 1, "{}": "{}", "c": 2}}',
    "compact JSON": '{{"a":1,"{}":"{}"}}',
}


@given(encoded(SENTRYS + OURS), VALUES, st.sampled_from([*PLACES]))
def test_any_spelling_of_a_listed_name_hides_its_value(name, value, place):
    assert Redaction().text(PLACES[place].format(name, value)) == PLACES[place].format(name, MARK)
    assert Redaction().settings({name: value}) == {name: MARK}
    assert Redaction().properties({name: value}) == {name: MARK}


@given(spelt(SENTRYS + OURS), VALUES, st.sampled_from([*HEADERS]))
def test_a_header_of_such_a_name_is_hidden_to_its_end(name, value, place):
    told = Redaction().text(HEADERS[place].format(name, value))
    assert told == HEADERS[place].replace("Bearer ", "").format(name, MARK)


@given(encoded(READABLE), VALUES, st.sampled_from([*PLACES]))
@example("max_tokens", "0", "property")
def test_a_name_that_only_looks_like_one_stays_readable(name, value, place):
    assume(place != "property" or "%" not in name)  # no shell or JVM decodes an option
    text = PLACES[place].format(name, value)
    assert Redaction().text(text) == text
    assert Redaction().settings({name: value}) == {name: value}


def test_nothing_of_the_projects_own_is_taken_for_a_secret():
    read = (re.findall(r"__P\((\w+)", it.read_text()) for it in PLANS.rglob("*.jmx"))
    names = {name for each in read for name in each}
    assert "warmup" in names
    assert [name for name in names if is_secret(name)] == []
    settings = yaml.safe_load((SUITE / "taurus.yml").read_text())
    assert Redaction().settings(settings) == settings


def test_settings_are_redacted_however_deep_they_are():
    def settings(authorization, whom, token, keys):
        properties = {"rate": 5, "secret": {"of": {"whom": whom}}, "api": {"token": token}}
        service = {"headers": [{"Authorization": authorization}], "properties": properties}
        module = {"password": "", "use-token": True, "auth": "false", "keys": keys}
        service["url"] = "http://127.0.0.1:1"
        return {"scenarios": {"token-service": service}, "modules": {"x": module}}

    given = settings("Bearer abc", "abc", 7, ["a", "b"])
    assert Redaction().settings(given) == settings(MARK, MARK, MARK, [MARK, MARK])


def test_properties_are_texts_also_where_a_dot_made_a_path_of_their_name():
    told = Redaction().properties({"rate": 5, "api": {"token": "abc"}, "on": False})
    assert told == {"rate": "5", "api": f"{{'token': '{MARK}'}}", "on": "False"}


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
def test_arguments_are_redacted_by_the_setting_that_they_name(given, told):
    assert Redaction().arguments([given]) == [told]


def test_what_was_redacted_is_hidden_however_it_is_written():
    redaction = Redaction()
    assert redaction.hide('a "secret" <one>') == 'a "secret" <one>'
    secrets = {"password": 'a "secret" <one>', "token": "longer than longer", "pin.key": 47}
    redaction.settings(secrets)
    redaction.settings({"token": "longer"})
    lines = {
        r'{"x": "a \"secret\" <one>"} and a &quot;secret&quot; &lt;one&gt;': (
            f'{{"x": "{MARK}"}} and {MARK}'
        ),
        "longer than longer, longer": f"{MARK}, {MARK}",
        "X-Key: 47, 'key': '47', [key]=47, key=471, 47 s": (
            f"X-Key: {MARK}, 'key': '{MARK}', [key]={MARK}, key=471, 47 s"
        ),
    }
    assert redaction.hide("\n".join(lines)).splitlines() == [*lines.values()]


def load_of(tmp_path, **changes):
    """The file of a plan whose header may hold what it likes."""
    header = element("HeaderManager", "who", Header__value="${__P(api_token)}")
    path = tmp_path / "their.jmx"
    path.write_text(plan(group(header, sampler("${__P(label_key,home)}"), **changes)))
    return path


def test_a_secret_that_the_load_does_not_depend_on_is_told_by_its_mark(tmp_path):
    told = recorded_properties(
        load_of(tmp_path), {"api_token": "abc", "users": 3}, "x", Redaction()
    )
    assert told == {"api_token": MARK, "users": "3"}


@pytest.mark.parametrize(
    ("given", "changes"),
    [
        ({"label_key": "cart"}, {}),
        ({"rate_key": 3}, {"threads": "${__P(rate_key,1)}"}),
        ({"rate_key": 3}, {"duration": "${__intSum(${__P(rate_key,1)},2)}"}),
    ],
)
def test_one_that_it_depends_on_is_refused_by_its_name(tmp_path, given, changes):
    path = load_of(tmp_path, **changes)
    with pytest.raises(TaurusConfigError) as refused:
        recorded_properties(
            path, {**given, "api_token": "abc"}, "verdict: execution 'plan'", Redaction()
        )
    (name,) = given
    said = str(refused.value)
    assert f"verdict: execution 'plan': run.json holds {MARK} for the property {name}, " in said
    assert "abc" not in said


def test_a_file_that_is_no_plan_is_not_read_without_need(tmp_path):
    (tmp_path / "their.jmx").write_text(document())
    assert recorded_properties(tmp_path / "nowhere.jmx", {"rate": 5}, "x", Redaction()) == {
        "rate": "5"
    }


def test_a_variable_is_secret_whatever_its_name_and_however_short_its_value():
    made = Redaction()
    made.add("SHOP_WORD", "zq7")
    shown = made.settings({"properties": {"SHOP_WORD": "zq7", "rate": "zq7"}})
    assert shown == {"properties": {"SHOP_WORD": MARK, "rate": "zq7"}}
    assert made.hide("user=ann&word=zq7") == f"user=ann&word={MARK}"
    assert made.hide("SHOP_WORD=zq7") == f"SHOP_WORD={MARK}"
