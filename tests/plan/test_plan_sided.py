"""A plan of somebody's own as it goes to two sides: who is asked, how often the coin falls."""

import pytest
from lxml import etree

from support import jmx_text as jmx
from support.jmx_text import group, plan, sampler
from tollgate.base.urls import Url
from tollgate.install.tools import jmeter_home
from tollgate.plan import nodes
from tollgate.plan.jmx import PlanError, parsed
from tollgate.plan.read import read_plan
from tollgate.plan.sided import write_sided

SIDES = ([Url("http", "127.0.0.1", 3001)], [Url("https", "127.0.0.2", 3002)])
FOUR = tuple([Url("http", "127.0.0.1", port + it) for it in range(2)] for port in (3001, 3003))
USUAL = {"connect_timeout": 5000, "response_timeout": 10000}
#: As jmx_text writes names of properties.
HTTP = "HTTPSampler__"
TO_SIDES = {it: f"${{__P({it}_${{coin}},)}}" for it in ("protocol", "host", "port")}


def place(domain="shop.example", **more):
    return {f"{HTTP}{key}": value for key, value in {"domain": domain, **more}.items()}


def defaults(**props):
    return jmx.element("ConfigTestElement", "defaults", **props)


def cookies(clears, **props):
    kept = f'<boolProp name="CookieManager.clearEachIteration">{clears}</boolProp>'
    return jmx.element("CookieManager", "cookies", extra=kept, **props)


def once(*children):
    return jmx.element("OnceOnlyController", "once", children)


class Made:
    """A plan's copy, and what is said of it."""

    def __init__(self, folder, text, wanted="", sides=SIDES, seed=5, **properties):
        source, self.copy = folder / "theirs.jmx", folder / "sides" / "theirs.jmx"
        self.copy.parent.mkdir(exist_ok=True)
        source.write_text(text)
        self.told = write_sided(source, self.copy, properties, wanted, sides, USUAL, seed)
        self.tree = nodes.below_test_plan(parsed(self.copy))

    def asks(self, name):
        """Protocol, host, port and path of a request's own."""
        (found,) = self.tree.xpath(f".//HTTPSamplerProxy[@testname='{name}']")
        names = ("protocol", "domain", "port", "path")
        texts = (found.findtext(f"stringProp[@name='HTTPSampler.{it}']") for it in names)
        return tuple(it or "" for it in texts)

    def goes_to_sides(self, name):
        return self.asks(name)[:3] == tuple(TO_SIDES.values())

    def coins(self, name):
        """The coins of a group's threads in their order; None where it is tossed each turn."""
        (found,) = [it for it, _ in nodes.groups(self.tree) if it.get("testname") == name]
        first = found.getnext()[0]
        if first.tag == "RandomVariableConfig":
            return None
        rows = first.find("collectionProp[@name='UserParameters.thread_values']")
        return [int(it[0].text) for it in rows]


@pytest.fixture
def made(tmp_path):
    def make(*children, **options):
        return Made(tmp_path, plan(*children), **options)

    return make


@pytest.fixture
def refused(made):
    def refuse(*children, **options):
        with pytest.raises(PlanError) as caught:
            made(*children, **options)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return refuse


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


def test_a_turn_without_a_session_has_a_coin_of_its_own(made):
    for children in ((), (cookies("true"),), (cookies("true"), once(jmx.constant_timer(5)))):
        found = made(*children, group(sampler("home", **place()), threads=1))
        assert (found.told.coin, found.coins("visitors")) == ("iteration", None)
        assert found.told.repeats == 1


def test_a_group_that_is_another_user_each_turn_clears_its_cookies(made):
    thread_group = '<boolProp name="CookieManager.controlledByThreadGroup">true</boolProp>'
    for same, coin in (("false", "iteration"), ("true", "thread")):
        props = {"ThreadGroup__same_user_on_next_iteration": same}
        kept = jmx.element("CookieManager", "cookies", extra=thread_group)
        found = made(group(kept, sampler("home", **place()), threads=16, **props))
        assert found.told.coin == coin


def test_a_session_that_outlasts_a_turn_makes_it_a_coin_of_the_thread(made):
    used_before = (
        sampler("a", **place(path="/a?${token}")),
        sampler(
            "b",
            jmx.element("RegexExtractor", "t", RegexExtractor__refname="token"),
            **place(),
        ),
    )
    for children, why in (
        ((cookies("false"), sampler("home", **place())), "CookieManager 'cookies'"),
        ((once(sampler("home", **place())),), "OnceOnlyController 'once'"),
        (used_before, "the variable token"),
        (used_before[::-1], ""),
    ):
        found = made(group(*children, threads=16))
        assert found.told.lasting == why
        assert (found.told.repeats is None) == bool(why)


def test_what_a_thread_sends_once_is_told_and_not_compared(made):
    login, home = (sampler(name, **place()) for name in ("login", "home"))
    told = made(group(once(login), home, threads=16)).told
    assert told.labels == ("home",)
    assert "sent once a thread, and not compared: login" in told.remarks


def test_threads_get_their_coins_in_blocks_that_have_each_process_once(made):
    found = made(group(cookies("false"), sampler("home", **place()), threads=22), sides=FOUR)
    coins = found.coins("visitors")
    assert len(coins) == 24
    assert {tuple(sorted(coins[at : at + 4])) for at in range(0, 24, 4)} == {(0, 1, 2, 3)}
    assert found.told.threads == 10
    again = made(group(cookies("false"), sampler("home", **place()), threads=22), sides=FOUR)
    assert again.coins("visitors") == coins
    other = made(
        group(cookies("false"), sampler("home", **place()), threads=22), seed=6, sides=FOUR
    )
    assert other.coins("visitors") != coins


@pytest.mark.parametrize("threads", [1, 15])
def test_fewer_than_eight_threads_a_side_are_refused(refused, threads):
    said = refused(group(cookies("false"), sampler("home", **place()), threads=threads))
    assert f"give the group 16 threads or more, 8 a side (it has {threads})" in said


def test_threads_that_turn_once_are_sessions_of_their_own(made):
    kept = cookies("false"), sampler("home", **place())
    found = made(group(*kept, threads=3, loops=1, duration=None))
    assert (found.told.coin, found.coins("visitors")) == ("iteration", None)
    arriving = jmx.open_group(*kept)
    assert made(arriving).coins("arrivals") is None


@pytest.mark.parametrize(("loops", "coin"), [(3, "iteration"), (21, "thread"), (-1, "thread")])
def test_a_long_loop_in_a_turn_makes_it_a_coin_of_the_thread(made, refused, loops, coin):
    visits = [sampler("home", **place())]
    loop = jmx.element("LoopController", "visits", visits, LoopController__loops=loops)
    once_each = {"loops": 1, "duration": None}
    assert made(group(loop, threads=16, **once_each)).told.coin == coin
    if coin == "thread":
        assert "LoopController 'visits' outlasts" in refused(group(loop, threads=4, **once_each))


def test_what_a_set_up_group_does_it_does_to_each_process(made):
    setup = group(sampler("fill", **place()), kind="SetupThreadGroup", name="fill", loops=1)
    found = made(setup, group(sampler("home", **place())), sides=FOUR)
    names = [it.get("testname") for it, _ in nodes.groups(found.tree)]
    assert names == ["fill base 1", "fill head 1", "fill base 2", "fill head 2", "visitors"]
    assert [found.coins(it) for it in names[:4]] == [[0], [1], [2], [3]]
    assert found.told.labels == ("home",)
    nap = group(jmx.script("nap", "sleep 1"), kind="SetupThreadGroup", name="nap", loops=1)
    found = made(nap, group(sampler("home", **place())), sides=FOUR)
    assert [it.get("testname") for it, _ in nodes.groups(found.tree)] == ["nap", "visitors"]


def test_groups_of_one_name_have_coins_of_their_own(made):
    kept, home = cookies("false"), sampler("home", **place())
    found = made(group(kept, home, threads=16), group(home, threads=2), sides=FOUR)
    first, second = (below for _, below in nodes.groups(found.tree))
    assert (first[0].tag, second[0].tag) == ("UserParameters", "RandomVariableConfig")
    assert found.told.coin == "thread"


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


@pytest.mark.parametrize("condition", ["", "LAST", "true", "${__P(go,true)}"])
def test_a_while_controller_that_only_a_failure_ends_makes_it_a_coin_of_the_thread(made, condition):
    given = {"WhileController__condition": condition}
    visits = jmx.element("WhileController", "visits", [sampler("home", **place())], **given)
    once_each = {"loops": 1, "duration": None, "threads": 16}
    assert made(group(visits, **once_each)).told.coin == "thread"
    given = {"WhileController__condition": "${__jexl3(${left} > 0)}"}
    polls = jmx.element("WhileController", "polls", [sampler("home", **place())], **given)
    assert made(group(polls, **once_each)).told.coin == "iteration"


def test_requests_of_a_parent_sample_count_as_what_a_toss_sends(made):
    ten = jmx.element("LoopController", "10", [sampler("a", **place())], LoopController__loops=10)
    parent = '<boolProp name="TransactionController.parent">true</boolProp>'
    visit = jmx.element("TransactionController", "visit", [ten], extra=parent)
    assert made(group(visit)).told.repeats == 10


def test_threads_of_a_plugins_group_are_those_of_its_rows_and_a_rate_is_none(made, refused):
    kept = cookies("false"), sampler("home", **place())
    ultimate = jmx.plugin_group(*kept, kind="Ultimate", rows=[(10, 0, 1, 60, 1), (6, 0, 1, 60, 1)])
    assert (made(ultimate).told.coin, made(ultimate).told.threads) == ("thread", 8)
    arrivals = jmx.plugin_group(*kept, kind="Arrivals", TargetLevel=60)
    assert "(it has a pool, of which nobody knows how many)" in refused(arrivals)


def test_a_plan_with_a_variable_of_the_coins_name_is_refused(refused):
    rows = jmx.element("CSVDataSet", "prices", variableNames="coin,price")
    said = refused(group(rows, sampler("home", **place())))
    assert "CSVDataSet 'prices' sets the variable coin, by which" in said


def test_how_many_requests_a_toss_sends_is_known_of_loops_with_numbers(made):
    three = jmx.element("LoopController", "3", [sampler("a", **place())], LoopController__loops=3)
    assert made(group(three, sampler("a", **place()))).told.repeats == 4
    stopping = {"ThreadGroup__on_sample_error": "startnextloop"}
    assert made(group(sampler("a", **place()), **stopping)).told.repeats is None


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
