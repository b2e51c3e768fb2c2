"""A plan of JMeter as a service: what becomes a label, and what does not carry over."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from support.jmx_text import (
    constant_timer,
    counter,
    document,
    element,
    get,
    group,
    include,
    plan,
    plugin_group,
    sampler,
    think,
)
from support.jmx_text import fragment as a_fragment
from tollgate.install.tools import jmeter_home
from tollgate.intake.draft import IntakeError
from tollgate.intake.jmx import _fixed, read_jmx
from tollgate.intake.source import load
from tollgate.plan.jmx import PlanError

SECRET = "S3CRET-of-the-plan"


def own(name, path, *children):
    """A request to the service."""
    return get(name, path, port="", domain="${host}").replace(
        "<hashTree></hashTree>", f"<hashTree>{''.join(children)}</hashTree>"
    )


def draft(tmp_path, *children, **variables):
    path = tmp_path / "their.jmx"
    path.write_text(plan(*children, **({"host": "shop.example"} | variables)))
    (tmp_path / "suite").mkdir(exist_ok=True)
    return read_jmx(load(str(path)), "shop", tmp_path / "suite")


def only(found):
    """The elements of the only fragment, by their names."""
    (text,) = found.files.values()
    return {
        it.get("testname"): it
        for it in etree.fromstring(text.encode()).iter()
        if it.get("testname")
    }


def test_a_thread_group_is_a_label_and_its_samplers_keep_their_names(tmp_path):
    found = draft(
        tmp_path,
        group(own("home", "/"), own("list", "/items"), name="browse", threads=9),
        group(own("pay", "/pay"), name="buy", threads=1),
    )
    assert [(it["label"], it["weight"]) for it in found.requests] == [("browse", 9), ("pay", 1)]
    assert [it["include"] for it in found.requests] == [*found.files]
    assert [*found.files] == ["plans/fragments/shop-browse.jmx", "plans/fragments/shop-pay.jmx"]
    first = etree.fromstring(found.files["plans/fragments/shop-browse.jmx"].encode())
    names = [it.get("testname") for it in first.iter("HTTPSamplerProxy")]
    assert names == ["home", "list"]
    assert found.url == "http://shop.example"


def test_requests_go_where_the_service_answers(tmp_path):
    defaults = element("ConfigTestElement", "defaults", HTTPSampler__domain="shop.example")
    whole = get("whole", "http://shop.example/a?b=1", domain="", port="")
    found = draft(tmp_path, defaults, group(own("home", "/"), whole))
    inside = only(found)
    for name in ("defaults", "home", "whole"):
        there = {it.get("name") for it in inside[name].iter("stringProp")}
        assert not there & {"HTTPSampler.domain", "HTTPSampler.port", "HTTPSampler.protocol"}
    assert inside["whole"].findtext("*[@name='HTTPSampler.path']") == "/a?b=1"


@pytest.mark.parametrize(
    ("path", "base", "sent"),
    [
        ("http://shop.example/items/${id}", "", "/items/${id}"),
        ("${base}/items/${id}?q=${word}", "http://shop.example", "/items/${id}?q=${word}"),
        ("${base}", "http://shop.example:80", "/"),
        ("http://${host}?q=1", "", "/?q=1"),
    ],
)
def test_a_path_that_is_a_whole_url_loses_its_host_and_keeps_its_variables(
    tmp_path, path, base, sent
):
    whole = get("whole", path, domain="", port="")
    found = draft(tmp_path, group(own("home", "/"), whole), base=base)
    assert only(found)["whole"].findtext("*[@name='HTTPSampler.path']") == sent


@pytest.mark.parametrize(
    "path", ["${base}/items", "http://${shop}/items", "http://shop.example:${at}/", "http://[x/"]
)
def test_a_request_whose_host_is_known_in_a_run_alone_is_left_out_and_named(tmp_path, path):
    found = draft(tmp_path, group(own("home", "/"), get("away", path, domain="", port="")))
    assert "away" not in only(found)
    assert any("'away': its host is known in a run alone" in it for it in found.remarks)


def test_of_two_ports_of_a_host_that_of_the_url_is_meant(tmp_path):
    path = tmp_path / "their.jmx"
    at = {"domain": "localhost"}
    requests = [get("other", "/", port="8080", **at), get("ours", "/", port="8081", **at)]
    path.write_text(plan(group(*requests)))
    found = read_jmx(load(str(path)), "shop", tmp_path, "http://localhost:8081")
    assert found.url == "http://localhost:8081"
    assert "ours" in only(found)
    assert any("'other': which goes to localhost:8080" in it for it in found.remarks)


def test_the_usual_port_is_the_same_as_none(tmp_path):
    found = draft(tmp_path, group(own("home", "/"), get("list", "/items", "80", domain="${host}")))
    assert {"home", "list"} <= {*only(found)}
    assert found.url == "http://shop.example"


def test_numbers_that_jmeter_saves_as_such_are_read(tmp_path):
    number = '<intProp name="{}">{}</intProp>'.format
    at = {"HTTPSampler__domain": "shop.example", "HTTPSampler__path": "/"}
    home = sampler("home", extra=number("HTTPSampler.port", 8080), **at)
    found = draft(tmp_path, group(home, threads=None, extra=number("ThreadGroup.num_threads", 7)))
    assert found.url == "http://shop.example:8080"
    assert [it["weight"] for it in found.requests] == [7]
    assert only(found)["home"].find("*[@name='HTTPSampler.port']") is None


def test_what_does_not_carry_over_is_named(tmp_path):
    found = draft(
        tmp_path,
        element("CookieManager", "cookies"),
        element("ResultCollector", "tree"),
        counter(),
        group(own("prepare", "/reset"), kind="SetupThreadGroup", name="before"),
        group(
            think(ms=5, name="wait"),
            own("home", "/", constant_timer(300)),
            think(ms=500, name="read"),
            get("count", "/hit", domain="count.example"),
            element("JDBCSampler", "rows"),
            own("off", "/off").replace('enabled="true"', 'enabled="false"'),
            element("TestAction", "stop", ActionProcessor__action=0),
        ),
    )
    around = {"home", "User Defined Variables", "variables of the plan", "arrivals", "host"}
    assert {*only(found)} - around == {"read"}
    told = "\n".join(found.remarks)
    for name in ("cookies", "before", "wait", "pause", "count.example", "rows", "stop"):
        assert name in told
    assert "tree" not in told


def test_names_that_a_service_cannot_have_are_changed_and_told(tmp_path):
    found = draft(
        tmp_path,
        group(own("item ${id}", "/items/1"), own("cart", "/cart"), name="one"),
        group(own("cart", "/cart"), name="two"),
    )
    texts = "".join(found.files.values())
    assert 'testname="item"' in texts
    assert 'testname="cart (two)"' in texts
    assert any("cart (two)" in it for it in found.remarks)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("getItem - ${testCase}", "getItem"),
        ("${host}: getItem", "getItem"),
        ("getItem (${n}, ${m})", "getItem"),
        ("getItem [${__P(stage,${n})}] \N{EN DASH} ${n}", "getItem"),
        ("a - ${n} - b", "a b"),
        ("GET /items/${id}/notes", "GET /items//notes"),
        ("Über-${n}", "Über"),
        ("- getItem -", "- getItem -"),
        ("${n} - ${m}", "request"),
    ],
)
def test_a_label_loses_its_variables_and_what_joined_them_to_it(tmp_path, name, label):
    found = draft(tmp_path, group(own(name, "/"), own("other", "/b"), name="browse"))
    assert {label, "other"} < {*only(found)}


@given(
    st.lists(st.from_regex(r"[A-Za-z]{1,8}( [a-z]{1,4})?", fullmatch=True), min_size=1, max_size=3),
    st.sampled_from([" - ", ": ", " | ", " ", " \N{EN DASH} ", "-", "_", ", "]),
    st.sampled_from(["${n}", "${__P(a,${n})}", "(${n})", "[${a} ${b}]"]),
)
def test_words_around_variables_are_kept_whole_whatever_joins_them(words, joined, variable):
    for name in (joined.join([*words, variable]), joined.join([variable, *words])):
        assert _fixed(name) == joined.join(words)
    assert _fixed(joined.join([words[0], variable, *words])) == f"{words[0]} {joined.join(words)}"


def test_a_label_stands_in_one_line(tmp_path):
    found = draft(tmp_path, group(own("list\u2028all", "/"), name="browse"))
    assert [it["label"] for it in found.requests] == ["list all"]
    assert "list all" in only(found)


def test_includes_and_data_are_found_from_the_plan(tmp_path):
    (tmp_path / "users.csv").write_text("user\nann\n")
    (tmp_path / "cart.jmx").write_text(
        document(element("TestPlan", "p", [a_fragment(own("cart", "/cart"))]))
    )
    found = draft(
        tmp_path,
        element("CSVDataSet", "users", filename="users.csv"),
        element("CSVDataSet", "gone", filename="${folder}/gone.csv"),
        group(own("home", "/"), include("cart.jmx")),
        folder="data",
    )
    inside = only(found)
    assert {"home", "cart", "users"} <= {*inside}
    assert "gone" not in inside
    assert any("gone.csv" in it for it in found.remarks)
    file = inside["users"].findtext("*[@name='filename']")
    assert (tmp_path / "suite" / ".tollgate" / file).resolve() == tmp_path / "users.csv"


def test_a_test_fragment_of_the_plan_is_left_out_and_named(tmp_path):
    shared = a_fragment(get("cart", "/cart", domain="other.example"), name="shared")
    found = draft(tmp_path, shared, group(own("home", "/")))
    assert found.url == "http://shop.example"
    assert {"shared", "cart"}.isdisjoint(only(found))
    assert any("'shared': it runs only where" in it for it in found.remarks)


def upload(name, path):
    """A request that sends a file."""
    file = f'<stringProp name="File.path">{path}</stringProp>'
    row = f'<elementProp name="{path}" elementType="HTTPFileArg">{file}</elementProp>'
    table = f'<collectionProp name="HTTPFileArgs.files">{row}</collectionProp>'
    head = '<elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs">'
    files = f"{head}{table}</elementProp>"
    return own(name, "/pictures").replace("</HTTPSamplerProxy>", f"{files}</HTTPSamplerProxy>")


def test_a_file_that_is_uploaded_is_found_from_the_plan(tmp_path):
    (tmp_path / "cat.png").write_text("a picture\n")
    found = draft(tmp_path, group(upload("send", "cat.png"), upload("lose", "gone.png")))
    inside = only(found)
    file = inside["send"].findtext(".//*[@name='File.path']")
    assert (tmp_path / "suite" / ".tollgate" / file).resolve() == tmp_path / "cat.png"
    assert "lose" not in inside
    assert any("'lose': gone.png can't be found from" in it for it in found.remarks)


def test_secrets_of_a_plan_come_from_the_environment(tmp_path):
    row = (
        '<collectionProp name="HeaderManager.headers"><elementProp elementType="Header" name="">'
        '<stringProp name="Header.name">Authorization</stringProp>'
        f'<stringProp name="Header.value">Bearer {SECRET}</stringProp>'
        "</elementProp></collectionProp>"
    )
    headers = element("HeaderManager", "headers", extra=row)
    found = draft(tmp_path, headers, group(own("home", "/")), password=SECRET)
    assert {*found.secrets} == {"SHOP_AUTHORIZATION", "SHOP_PASSWORD"}
    assert SECRET not in str(found)


@pytest.mark.parametrize(
    ("text", "error", "named"),
    [
        (plan(group(get("a", "/", domain="x"), name="g", enabled=False)), IntakeError, "no thread"),
        (plan(group(element("JDBCSampler", "rows"))), IntakeError, "no thread group"),
        ("<html/>", PlanError, "not a JMeter plan"),
        ("nothing", PlanError, "not well-formed"),
    ],
)
def test_a_plan_without_a_label_is_refused_in_one_line(tmp_path, text, error, named):
    path = tmp_path / "their.jmx"
    path.write_text(text)
    with pytest.raises(error, match=named) as refused:
        read_jmx(load(str(path)), "shop", tmp_path)
    assert "\n" not in str(refused.value)


TEMPLATES = {
    "build-web-test-plan": (["Home Page", "Page Returning 404"], "http://example.org"),
    "build-adv-web-test-plan": (["Home Page", "Changes"], "http://site.example"),
    "build-webservice-test-plan": (["Soap Request"], "http://wsf.cdyne.com"),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_of_jmeter_becomes_labels(name, tmp_path):
    labels, url = TEMPLATES[name]
    path = Path(jmeter_home()) / "bin" / "templates" / f"{name}.jmx"
    found = read_jmx(load(str(path)), "shop", tmp_path)
    (text,) = found.files.values()
    sent = etree.fromstring(text.encode()).iter("HTTPSamplerProxy")
    assert [it.get("testname") for it in sent] == labels
    assert found.url == url
    is_advanced = name == "build-adv-web-test-plan"
    assert any("bz.site.example" in it for it in found.remarks) == is_advanced
    assert any("login.csv" in it for it in found.remarks) == is_advanced


def users(rows):
    """An Ultimate Thread Group."""
    table = {"kind": "Ultimate", "name": "u", "rows": rows}
    return plugin_group(own("u", "/u"), **table).replace("ultimate.", "")


#: A thread group, and its weight beside one of ten threads; None where it sends nothing.
LOADS = {
    "threads": (group(own("u", "/u"), name="u", threads=7), 7),
    "of a property": (group(own("u", "/u"), name="u", threads="${__P(users,3)}"), 3),
    "none": (group(own("u", "/u"), name="u", threads=0), None),
    "none of a property": (group(own("u", "/u"), name="u", threads="${__P(admins,0)}"), None),
    "no loops": (group(own("u", "/u"), name="u", loops=0), None),
    "no number": (group(own("u", "/u"), name="u", threads="${visitors}"), None),
    "a word": (group(own("u", "/u"), name="u", threads="ten"), None),
    "switched off": (group(own("u", "/u"), name="u", enabled=False), None),
    "Concurrency": (plugin_group(own("u", "/u"), name="u", TargetLevel=50), 50),
    "Concurrency of none": (plugin_group(own("u", "/u"), name="u", TargetLevel=0), None),
    "Ultimate at once": (users([(60, 0, 5, 60, 5), (30, 0, 9, 60, 5)]), 90),
    "Ultimate in turn": (users([(60, 0, 5, 10, 5), (30, 40, 5, 10, 5)]), 60),
    "Ultimate of none": (users([(0, 0, 5, 10, 5)]), None),
    "unknown": (group(own("u", "/u"), name="u", threads="${__groovy(vars.get('n'))}"), 1),
    "arrivals": (plugin_group(own("u", "/u"), kind="Arrivals", name="u", TargetLevel=50), 1),
    "arrivals of none": (
        plugin_group(own("u", "/u"), kind="Arrivals", name="u", TargetLevel=0),
        None,
    ),
    "unknown rows": (users([("${n}", 0, 5, 10, 5)]), 1),
}


@pytest.mark.parametrize("how", LOADS)
def test_a_weight_is_the_threads_of_a_group_and_one_without_is_left_out(how, tmp_path):
    other, weight = LOADS[how]
    found = draft(tmp_path, group(own("ten", "/ten"), name="ten", threads=10), other)
    weights = {it["label"]: it["weight"] for it in found.requests}
    assert weights == {"ten": 10} | ({"u": weight} if weight else {})
    left = [it for it in found.remarks if it.startswith("left out") and "'u'" in it]
    asked = [it for it in found.remarks if "the weight of 'u' is not known" in it]
    assert (bool(left), bool(asked)) == (weight is None and how != "switched off", weight == 1)


def cookies(*rows):
    """A Cookie Manager with (name, value, domain) of its own."""
    text = '<stringProp name="Cookie.{}">{}</stringProp>'.format
    inside = "".join(
        f'<elementProp name="{name}" elementType="Cookie">{text("value", value)}'
        f"{text('domain', domain)}{text('path', '/')}</elementProp>"
        for name, value, domain in rows
    )
    table = f'<collectionProp name="CookieManager.cookies">{inside}</collectionProp>'
    return element("CookieManager", "cookies", extra=table)


def test_own_cookies_of_a_plan_are_those_of_the_service_and_secret_ones_of_the_environment(
    tmp_path,
):
    rows = [("tenant", "acme", "${host}"), ("session_token", SECRET, ".shop.example")]
    elsewhere = ("seen", "1", "count.example")
    found = draft(tmp_path, cookies(*rows, elsewhere), group(own("home", "/")))
    place = {"domain": "${__P(host,127.0.0.1)}", "path": "/"}
    assert found.settings["cookies"] == [
        {"name": "tenant", "value": "acme", **place},
        {"name": "session_token", "value": "${__P(SHOP_SESSION_TOKEN)}", **place},
    ]
    assert [*found.secrets] == ["SHOP_SESSION_TOKEN"]
    assert any("the cookie 'seen': it is for count.example" in it for it in found.remarks)
    assert SECRET not in str(found)


def test_what_counts_the_turns_of_a_thread_counts_all_arrivals(tmp_path):
    mix = element("InterleaveControl", "mix", [own("a", "/a"), own("b", "/b")])
    total = element("ThroughputController", "three", [own("c", "/c")])
    keeps = element("JSR223Sampler", "sum", script="vars.get('n'); vars.put('n', '1')")
    found = draft(tmp_path, group(own("home", "/"), mix, total, keeps, name="g"))
    inside = only(found)
    assert inside["mix"].findtext("*[@name='InterleaveControl.accrossThreads']") == "true"
    assert "c" not in inside
    told = "\n".join(found.remarks)
    assert "'mix' counts for all arrivals together" in told
    assert "'three': it runs a number of times in all" in told
    assert "'g' leaves the variable n from one turn to the next" in told
