"""A plan of somebody's own as it goes to two sides: who is asked."""

import pytest
from lxml import etree

from support import jmx_text as jmx
from support.jmx_text import group, sampler
from support.sided import FOUR, SIDES, TO_SIDES, USUAL, defaults, place
from tollgate.install.tools import jmeter_home
from tollgate.plan import nodes
from tollgate.plan.read import read_plan
from tollgate.plan.sided import write_sided


def test_what_goes_to_the_only_service_goes_to_a_side_wherever_its_host_stands(made):
    found = made(
        defaults(**place("shop.example", port="8080")),
        group(
            sampler("by defaults"),
            sampler("by itself", **place("shop.example", port="8080", path="/a")),
            sampler("by a URL", **place("", path="http://shop.example:8080/b?c=${d}")),
            sampler("by a variable", **place("${__P(where,shop.example)}", port="8080")),
            sampler("below defaults of its own", defaults(**place(port="8080", protocol="http"))),
        ),
    )
    names = ("by defaults", "by itself", "by a URL", "by a variable", "below defaults of its own")
    assert [it for it in names if not found.goes_to_sides(it)] == []
    assert found.asks("by a URL")[3] == "/b?c=${d}"
    assert found.asks("by itself")[3] == "/a"
    assert found.told.place == "shop.example:8080"
    assert found.told.labels == names


def test_other_hosts_are_asked_as_ever_and_named_and_not_compared(made):
    others = (
        sampler("pay", **place("pay.example", protocol="https")),
        sampler("old", **place("old")),
    )
    found = made(group(sampler("home", **place()), *others), wanted="shop.example")
    assert found.goes_to_sides("home")
    assert found.asks("pay") == ("https", "pay.example", "", "")
    assert found.told.labels == ("home",)
    assert "asked as ever, and not compared: old:80, pay.example:443" in found.told.remarks


@pytest.mark.parametrize("wanted", ["", "shop", "shop.example:81"])
def test_of_several_hosts_one_has_to_be_named(refused, wanted):
    said = refused(group(sampler("home", **place()), sampler("pay", **place("p"))), wanted=wanted)
    assert "say by PLAN_HOST=host:port which of them" in said
    assert "shop.example:80, p:80" in said


@pytest.mark.parametrize(
    ("props", "why"),
    [
        (place("${host}"), "its domain is '${host}'"),
        (place(port="${port}"), "its port is '${port}'"),
        (place(""), "it names no host"),
        (place("", path="http://${host}/a"), "its URL is 'http://${host}/a'"),
    ],
)
def test_whoever_is_asked_has_to_be_known(refused, props, why):
    said = refused(group(sampler("home", **place()), sampler("cart", **props)))
    assert "whom 'cart' asks is known to the run alone" in said
    assert why in said


def test_a_plan_without_http_is_refused(refused):
    assert "sends no HTTP request" in refused(group(jmx.script("nap", "sleep 1")))


def test_a_plan_that_names_no_host_asks_the_sides_alone(made):
    found = made(group(sampler("home", **place("", path="/a")), sampler("cart")))
    assert (found.told.place, found.told.labels) == ("", ("home", "cart"))
    assert found.goes_to_sides("home")
    assert found.goes_to_sides("cart")


def test_a_property_of_the_run_says_whom_a_plan_asks(made):
    home = sampler("home", **place("${__P(host,none.example)}"))
    assert made(group(home), host="shop.example").told.place == "shop.example:80"


def test_requests_wait_no_longer_than_is_known(made):
    limited = sampler("b", **place(response_timeout="700", connect_timeout="20000"))
    found = made(group(sampler("a", **place()), limited))
    (a,) = found.tree.xpath(".//HTTPSamplerProxy[@testname='a']")
    limit = a.findtext("stringProp[@name='HTTPSampler.response_timeout']")
    assert limit == "${__P(response_timeout,10000)}"
    assert found.told.timeouts == {"connect_timeout": 20000, "response_timeout": 10000}


def test_transactions_are_measured_by_their_requests(made):
    parent = '<boolProp name="TransactionController.parent">true</boolProp>'
    visit = jmx.element("TransactionController", "visit", [sampler("a", **place())], extra=parent)
    found = made(group(visit))
    assert read_plan(found.copy, {}).parent_labels == ()
    assert found.told.labels == ("a",)


def test_credentials_of_the_service_hold_for_each_process(made):
    auth = (
        '<collectionProp name="AuthManager.auth_list">'
        '<elementProp name="" elementType="Authorization"><stringProp name="Authorization.url">'
        "http://shop.example/in</stringProp></elementProp>"
        '<elementProp name="" elementType="Authorization"><stringProp name="Authorization.url">'
        "http://pay.example/</stringProp></elementProp></collectionProp>"
    )
    cookie = (
        '<collectionProp name="CookieManager.cookies"><elementProp name="a" elementType="Cookie">'
        '<stringProp name="Cookie.domain">shop.example</stringProp></elementProp></collectionProp>'
    )
    elements = (
        jmx.element("AuthManager", "auth", extra=auth),
        jmx.element("CookieManager", "cookies", extra=cookie),
    )
    found = made(*elements, group(sampler("home", **place()), threads=16))
    urls = found.tree.xpath(".//stringProp[@name='Authorization.url']/text()")
    assert urls == ["http://127.0.0.1:3001/in", "https://127.0.0.2:3002/in", "http://pay.example/"]
    domains = found.tree.xpath(".//stringProp[@name='Cookie.domain']/text()")
    assert domains == ["127.0.0.1", "127.0.0.2"]


def test_what_is_included_goes_to_sides_as_well(made, tmp_path):
    (tmp_path / "part.jmx").write_text(jmx.document(jmx.fragment(sampler("in", **place()))))
    assert made(group(jmx.include("part.jmx"))).goes_to_sides("in")


def test_what_cannot_be_put_in_place_is_refused(refused, tmp_path):
    (tmp_path / "part.jmx").write_text(jmx.document(jmx.fragment(sampler("in", **place()))))
    said = refused(group(sampler("home", **place()), jmx.include("${__P(which,part.jmx)}")))
    assert "can't be sent to two sides" in said


def test_where_sides_may_differ_for_the_plans_own_sake_is_told(made):
    until = {"WhileController__condition": "${__jexl3(${left} > 0)}"}
    told = made(
        jmx.element("CacheManager", "cache"),
        group(
            jmx.element("WhileController", "until done", [sampler("poll", **place())], **until),
            jmx.script("nap", "props.put('token', 'a')"),
        ),
    ).told
    assert told.repeats is None
    for said in (
        "WhileController 'until done' may send more requests to one side",
        "an HTTP Cache Manager knows answers by their URL",
        "JSR223Sampler 'nap' passes values to other threads",
        "no HTTP request, and goes where it always goes: JSR223Sampler 'nap'",
        "the threads of visitors wait for an answer",
    ):
        assert any(said in it for it in told.remarks), said
    assert made(jmx.open_group(sampler("home", **place()))).told.remarks == ()


def test_other_hosts_labels_are_no_part_of_the_comparison_and_nor_is_a_script(made):
    told = made(
        group(
            sampler("home", **place()),
            sampler("pay", **place("bank.example")),
            jmx.script("nap", "sleep 1"),
        ),
        wanted="shop.example",
    ).told
    assert (told.labels, told.elsewhere) == (("home",), ("pay", "nap"))


@pytest.mark.parametrize(("domain", "path"), [("shop.example", "${url}"), ("", "${base}/items")])
def test_what_may_be_a_whole_url_is_told_for_the_rehearsal_to_see_who_is_asked(made, domain, path):
    rows = jmx.element("CSVDataSet", "urls", variableNames="url,base")
    told = made(group(rows, sampler("item", **place(domain, path=path)))).told
    assert told.straying == ("item",)
    assert made(group(sampler("item", **place(path="/items/${id}")))).told.straying == ()


def module(name, *path):
    names = "".join(f'<stringProp name="{at}">{it}</stringProp>' for at, it in enumerate(path))
    listed = f'<collectionProp name="ModuleController.node_path">{names}</collectionProp>'
    return jmx.element("ModuleController", name, extra=listed)


def test_what_a_module_controller_runs_goes_to_sides_as_well(made):
    parts = jmx.fragment(sampler("in", **place()), name="parts")
    found = made(parts, group(module("run", "Test Plan", "plan", "parts")))
    tree = next(below for it, below in nodes.groups(found.tree) if it.get("testname"))
    (sent,) = tree.xpath(".//HTTPSamplerProxy[@testname='in']")
    assert sent.findtext("stringProp[@name='HTTPSampler.domain']") == TO_SIDES["host"]
    assert not tree.xpath(".//ModuleController | .//TestFragmentController")
    assert (found.told.place, found.told.labels) == ("shop.example:80", ("in",))


def test_what_a_set_up_group_runs_by_a_module_it_does_to_each_process(made):
    parts = jmx.fragment(sampler("fill", **place()), name="parts")
    run = module("run", "Test Plan", "plan", "parts")
    setup = group(run, kind="SetupThreadGroup", name="fill", loops=1)
    found = made(parts, setup, group(sampler("home", **place())), sides=FOUR)
    names = [it.get("testname") for it, _ in nodes.groups(found.tree)]
    assert names == ["fill base 1", "fill head 1", "fill base 2", "fill head 2", "visitors"]


def test_the_copy_is_a_plan_that_reads_like_the_original(made):
    found = made(group(sampler("home", **place()), threads=3))
    read = read_plan(found.copy, {})
    assert [(it.name, it.threads, it.loops) for it in read.groups] == [("visitors", 3, -1)]
    assert etree.tostring(found.tree).count(b"RandomVariableConfig") == 3


@pytest.mark.parametrize(
    ("name", "wanted", "place", "labels"),
    [
        ("build-webservice-test-plan", "", "wsf.cdyne.com:80", ("Soap Request",)),
        ("simple-http-request-test-plan", "", "", ("HTTP Request",)),
        ("build-adv-web-test-plan", "site.example", "site.example:80", ("Home Page", "Changes")),
    ],
)
def test_jmeters_own_templates_go_to_sides(tmp_path, name, wanted, place, labels):
    [template] = (jmeter_home() / "bin" / "templates").rglob(f"{name}.jmx")
    told = write_sided(template, tmp_path / "copy.jmx", {}, wanted, SIDES, USUAL, 5)
    assert (told.place, told.labels) == (place, labels)
    others = any("bz.site.example:443" in it for it in told.remarks)
    assert others == bool(wanted)
