"""What somebody else wrote into a document, a recording or a plan is sent as it stands: JMeter and
Taurus evaluate nothing of it. Judged by what JMeter does with a text (support/jmeter_text.py)."""

import json
import re
from contextlib import suppress
from html import unescape
from itertools import count
from pathlib import Path
from urllib.parse import unquote, unquote_plus

import pytest
import yaml
from bzt.environment_helpers import custom_expandvars
from bzt.utils import BetterDict
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from support import strangers
from support.jmeter_text import Evaluation
from support.jmx_text import get, group, plan, posted
from support.openapi_documents import operation
from support.recordings import har
from support.strangers import EVALUATED, SPELLINGS
from tollgate.base.urls import read_url
from tollgate.cli.new_target.scenario import entry
from tollgate.intake.draft import IntakeError
from tollgate.intake.har import read_har
from tollgate.intake.jmx import read_jmx
from tollgate.intake.openapi import read_openapi
from tollgate.intake.source import load
from tollgate.plan.expressions import Expander
from tollgate.service.elements import parts_of
from tollgate.service.model import read_service

POSTS = [f"POST /{it}" for it in ("example", "drawn", "form")]
#: New examples in each run, also where CI is set; what fails is printed with how to repeat it.
NEW = settings(derandomize=False, print_blob=True, max_examples=60)
#: Without %: a path of a document may hold it as a part of what is encoded already.
PARTS = (*SPELLINGS, "\\", "$", "{", "}", "${", ",", "(", ")", '"', "'", "a", " ", "é", "${id}")
PARTS += ("\\,", "/", "?", "#", "&", "=", ";", "\n", "\x01", "\ue000", "${__char(36)}", "^", "~")
texts = st.lists(st.sampled_from(PARTS), min_size=1, max_size=6).map("".join)
sources = st.sampled_from((strangers.document, strangers.recording))


def read(folder, written):
    """The draft of a document, or of the entries of a recording."""
    if isinstance(written, list):
        return read_har(load(str(har(folder / "a.har", *written))), "shop")
    (folder / "openapi.json").write_text(json.dumps(written))
    named = [it for it in POSTS if it.split()[1] in written.get("paths", ())]
    return read_openapi(load(str(folder / "openapi.json")), "shop", named)


def sent(draft):
    """What JMeter works with, property by property, after the draft has been through taurus.yml and
    Taurus; it evaluates nothing but references of ours."""
    text = f"scenarios:\n{entry('shop', 'made by a test', 'url: http://127.0.0.1', draft)}"
    config = BetterDict()
    config.merge(yaml.safe_load(text))
    scenario = config["scenarios"]["shop"]
    BetterDict.traverse(scenario, expand_as_taurus)
    scenario.pop("data-sources", None)
    parts = parts_of(read_service("shop", scenario), Path())
    evaluation = Evaluation({name: column[0] for name, column in draft.data.items()})
    elements = [*parts.common, *(it for each in parts.requests for it in each.elements)]
    below = [it for each in elements for it in each.iter()]
    found = [evaluation.of(it.text or "") for it in below]
    names = [evaluation.of(it.get("testname", "")) for it in below]
    ours = {"host", "port", "protocol", "connect_timeout", "response_timeout", *draft.secrets}
    for name, *arguments in evaluation.calls:
        if name == "__P":
            assert arguments[0].removesuffix("_json") in ours
        elif name not in ("__char", "__urlencode", "__escapeXml"):
            assert name in {*draft.data, *extracted(draft.requests)}
    assert EVALUATED not in "\n".join(found + names)
    return found


def expand_as_taurus(value, key, container):
    if isinstance(value, str):
        container[key] = custom_expandvars(value, {"TAURUS_ARTIFACTS_DIR": EVALUATED})


def extracted(steps):
    for step in steps:
        yield from extracted(step.get("do", ()))
        yield from (name for key, it in step.items() if key.startswith("extract-") for name in it)


def decoded(text):
    """As URLs, forms, JSON, XML and regular expressions have it."""
    yield from (text, unquote(text), unquote_plus(text), unescape(text))
    yield re.sub(r"\\(.)", r"\1", text)
    yield re.sub(r"\\x\{(\w+)\}", lambda it: chr(int(it[1], 16)), text)
    with suppress(ValueError):
        yield json.loads(f'"{text}"', strict=False)


class Places:
    """Marks what stands in each place, and says which of it arrived as it was."""

    def __init__(self, spelling):
        self.spelling, self._names = spelling, []

    def text(self, name):
        if name not in self._names:
            self._names.append(name)
        number = self._names.index(name)
        return f"Q{number}Q{self.spelling}q{number}q"

    def arrived(self, found):
        texts = [it for each in found for it in {each, unquote(each)}]
        pairs = [pair for it in texts for pair in re.findall(r"Q(\d+)Q(.*?)q\1q", it, re.DOTALL)]
        places = {}
        for number, text in pairs:
            is_right = self.spelling in decoded(text)
            places.setdefault(self._names[int(number)], []).append(is_right)
        return {name for name, them in places.items() if any(them)}, places


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_each_text_of_a_document_is_sent_as_it_stands(tmp_path, spelling):
    places = Places(spelling)
    draft = read(tmp_path, strangers.document(places.text))
    arrived, _ = places.arrived(sent(draft))
    assert arrived >= {
        *("query", "query-example", "header-example", "path-example", "accept"),
        *("content-type", "json-key", "json-value", "property", "enum", "field", "field-value"),
        *("key-query", "required"),
    }
    left_out = ("header-name", "key-name", "key-cookie", "cookie")
    assert all(any(repr(places.text(it)) in line for line in draft.remarks) for it in left_out)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_each_text_of_a_recording_is_sent_as_it_stands(tmp_path, spelling):
    places = Places(spelling)
    draft = read(tmp_path, strangers.recording(places.text))
    arrived, _ = places.arrived(sent(draft))
    assert arrived >= {
        *("segment", "query", "query-value", "header-value", "xml", "field", "field-value"),
        *("json-key", "json-value", "json-text", "answer-key", "inner-key", "hidden"),
    }
    assert any("/named" in it and repr(places.text("header-name")) in it for it in draft.remarks)
    assert any("/odd" in it for it in draft.remarks)


@NEW
@given(sources, texts)
def test_whatever_is_written_in_all_places_arrives_or_is_left_out(tmp_path_factory, source, text):
    places = Places(text)
    draft = read(tmp_path_factory.mktemp("any"), source(places.text))
    _, found = places.arrived(sent(draft))
    # What has braces in a path is a template, whose name is not sent.
    wrong = {name for name, them in found.items() if not all(them)}
    assert wrong <= {"path", "path-name", "server"}


def changed(value, places, text, counter):
    """With a text in, or in place of, the strings that have these numbers, keys among them."""

    def one(old):
        how = places.get(next(counter))
        return old if how is None else how.format(old, text)

    if isinstance(value, str):
        return one(value)
    if isinstance(value, list):
        return [changed(it, places, text, counter) for it in value]
    if isinstance(value, dict):
        return {one(key): changed(it, places, text, counter) for key, it in value.items()}
    return value


@NEW
@given(
    sources,
    texts,
    st.dictionaries(st.integers(0, 250), st.sampled_from(["{1}", "{0}{1}", "{1}{0}"]), min_size=1),
)
def test_nothing_is_evaluated_whichever_strings_are_changed(tmp_path_factory, source, text, places):
    written = changed(source(str), places, text, count())
    try:
        draft = read(tmp_path_factory.mktemp("changed"), written)
    except IntakeError:
        return
    sent(draft)


@NEW
@given(texts)
def test_what_a_plan_sent_as_it_stood_it_sends_so_beside_a_secret(tmp_path_factory, text):
    body = json.dumps({"password": "S3CRET-of-the-plan", "note": f"Q{text}q"}, ensure_ascii=False)
    body = re.sub("[\x01\n]", "", body)
    path = tmp_path_factory.mktemp("plan") / "their.jmx"
    path.write_text(plan(group(posted(body))))
    draft = read_jmx(load(str(path)), "shop", path.parent)
    (fragment,) = draft.files.values()
    values = {
        it.text
        for it in etree.fromstring(fragment.encode()).iterfind(".//*[@name='Argument.value']")
    }
    before, after = Evaluation(), Evaluation({"SHOP_PASSWORD_json": "S3CRET-of-the-plan"})
    assert {after.of(it) for it in values} == {before.of(body)}
    assert [it for it in after.calls if it[:2] != ("__P", "SHOP_PASSWORD_json")] == before.calls


def test_a_label_is_what_jmeter_writes(tmp_path):
    assert Expander({}, {}).expand(r"a\${b}").value == r"a\${b}"
    assert Expander({}, {}).expand(r"a\${b} ${__char(36)}{c}").value == "a${b} ${c}"
    own = get("item $${a}{__P(x)}", "/1", port=""), get("other", "/2", port="")
    path = tmp_path / "their.jmx"
    path.write_text(plan(group(*own, name="all ${__P(x)}")))
    draft = read_jmx(load(str(path)), "shop", tmp_path)
    assert [it["label"] for it in draft.requests] == ["all"]
    assert "${" not in "".join(re.findall('testname="([^"]*)"', *draft.files.values()))


def test_a_form_whose_names_taurus_changes_is_sent_as_the_text_of_a_form(draft):
    field = {"type": "string", "example": "a b"}
    form = {"type": "object", "properties": {"^x": field, "y": field}}
    body = {"content": {"application/x-www-form-urlencoded": {"schema": form}}}
    found = draft({"/a": {"post": operation(requestBody=body)}}, "POST /a")
    assert found.requests[0]["body"] == "%5Ex=a+b&y=a+b"
    assert found.requests[0]["headers"] == {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize("host", ["${TAURUS_ARTIFACTS_DIR}", "a${__P(x)}", "a{b}"])
def test_the_name_of_a_host_holds_nothing_that_is_evaluated(host):
    with pytest.raises(ValueError, match="write a URL"):
        read_url("url", f"http://{host}")
    assert read_url("url", "http://b\u00fcro_1.example:80").host == "b\u00fcro_1.example"
    assert read_url("url", "http://[fe80::1%eth0]:80").host == "fe80::1%eth0"


def test_a_path_behind_which_taurus_reads_a_host_is_left_out(draft):
    paths = {"//other.example/x": {"get": operation()}, "/a b": {"get": operation()}}
    found = draft(paths)
    assert [it["url"] for it in found.requests] == ["/a%20b"]
    assert any("//other.example/x" in it for it in found.remarks)
