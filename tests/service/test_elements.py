"""The elements of JMeter that a service's requests become."""

import html
import re
from datetime import date

import pytest

from support import jmx_text as jmx
from support.services_described import parts, plan
from tollgate.base.paths import SUITE
from tollgate.base.settings import SettingError
from tollgate.plan.jmx import read_tree

FRAGMENT = "plans/fragments/sum.jmx"
PAGE = {"label": "page", "url": "/"}


def elements(path):
    """All that JMeter runs of a plan."""
    return list(read_tree(path, {}).walk())


def named(path, kind):
    return [it.name for it in elements(path) if it.kind == kind]


def saved(tmp_path, *children):
    """A label whose fragment somebody saved."""
    inside = jmx.fragment(jmx.get("first", "/"), *children)
    path = tmp_path / "saved.jmx"
    path.write_text(jmx.document(jmx.element("TestPlan", "plan", [inside])))
    return [{"include": str(path), "label": "saved"}]


@pytest.mark.parametrize("kind", ["check", "forecast", "capacity", "compare"])
def test_in_each_kind_threads_keep_the_turns_of_a_fragment_together(tmp_path, kind):
    deal = jmx.element("InterleaveControl", "deal", [jmx.get("a", "/a"), jmx.get("b", "/b")])
    once = jmx.element("OnceOnlyController", "once", [jmx.get("login", "/login")])
    found = elements(plan(tmp_path, kind, requests=saved(tmp_path, deal, once)))
    (deals,) = (it for it in found if it.kind == "InterleaveControl")
    assert deals.props["InterleaveControl.accrossThreads"] == "true"
    assert [it.kind for it in found if it.name == "once"] == ["GenericController"]


def test_a_fragment_that_counts_the_turns_of_one_user_is_refused_by_name(tmp_path):
    requests = saved(tmp_path, jmx.get("next", "/${__iterationNum}"))
    with pytest.raises(SettingError, match=r"label 'saved': HTTPSamplerProxy 'next': .*Counter"):
        parts(tmp_path, requests=requests)


def test_taurus_settings_are_those_that_measure_the_service(tmp_path):
    kinds = {it.kind for it in elements(plan(tmp_path, "check"))}
    assert "CookieManager" in kinds
    assert not kinds & {"CacheManager", "DNSCacheManager"}
    path = plan(tmp_path, "check", **{"store-cache": True, "store-cookie": False})
    kinds = {it.kind for it in elements(path)}
    assert "CacheManager" in kinds
    assert "CookieManager" not in kinds


def test_headers_and_timeouts_of_the_service_are_those_of_each_request(tmp_path):
    path = plan(tmp_path, "check", headers={"Accept": "text/csv"}, timeout="3s")
    text = path.read_text()
    assert "text/csv" in text
    assert "${__P(response_timeout,3000)}" in text


def test_data_are_named_from_the_suite_and_read_from_the_plans_folder(tmp_path):
    (data,) = (
        it
        for it in elements(plan(tmp_path, "check", **{"data-sources": ["data/sum.csv"]}))
        if it.kind == "CSVDataSet"
    )
    assert (tmp_path / data.props["filename"]).resolve() == SUITE / "data" / "sum.csv"
    assert data.props["shareMode"] == "shareMode.all"


def test_fragments_stand_beside_requests_in_yaml(tmp_path):
    both = [{"label": "list", "url": "/items"}, {"include": FRAGMENT, "weight": 2}]
    found = parts(tmp_path, requests=both)
    assert found.weights == {"list": pytest.approx(1 / 3), "sum": pytest.approx(2 / 3)}
    assert named(plan(tmp_path, "check", requests=both), "HTTPSamplerProxy") == ["list", "sum"]


def test_what_an_arrival_sends_first_has_its_label_and_the_rest_follows(tmp_path):
    samples = {it.slug: it.samples for it in parts(tmp_path).requests}
    assert samples == {"list": ("list",), "order": ("order",), "visit": ("login", "put")}


def test_files_of_requests_are_named_from_the_suite_and_read_from_the_plans_folder(tmp_path):
    script = {"language": "groovy", "script-file": "data/sum.csv"}
    sent = {**PAGE, "method": "PUT", "body-file": "data/search.csv", "jsr223": script}
    rows = {"data-sources": [{"path": "data/${__P(env)}.csv", "delimiter": ","}]}
    text = plan(tmp_path, "check", requests=[sent], **rows).read_text()
    files = re.findall(r'name="(?:File.path|filename)">([^<]+)<', text)
    assert {(tmp_path / it).resolve() for it in files} == {
        SUITE / "data" / it for it in ("sum.csv", "search.csv", "${__P(env)}.csv")
    }


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/vnd.api+json"])
def test_a_mapping_below_any_header_of_json_is_sent_as_json(tmp_path, kind):
    order = {**PAGE, "method": "POST", "body": {"id": "${id}", "on": date(2026, 6, 15)}}
    of_one = {**order, "headers": {"content-type": kind}}
    visit = {"transaction": "visit", "do": [PAGE, {**order, "label": "order"}]}
    for requests, more in (([of_one], {}), ([visit], {"headers": {"Content-Type": kind}})):
        text = plan(tmp_path, "check", requests=requests, **more).read_text()
        assert '{"id": "${id}", "on": "2026-06-15"}' in html.unescape(text)


def test_resources_of_pages_are_retrieved_where_the_service_says_so(tmp_path):
    of = {"retrieve-resources": True, "retrieve-resources-regex": "http://127.*"}
    text = plan(tmp_path, "check", **of).read_text()
    assert '<boolProp name="HTTPSampler.image_parser">true</boolProp>' in text
    assert "http://127.*" in text
    assert "image_parser" not in plan(tmp_path, "check").read_text()


def test_a_password_is_that_of_any_process_of_the_service(tmp_path):
    of = {"url": "http://127.0.0.1:3001", "name": "ada", "password": "x"}
    text = plan(tmp_path, "compare", authorization=of).read_text()
    assert re.search(r'<stringProp name="Authorization.url"\s*(/>|></)', text)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"data-sources": ["data/none.csv"]}, "data/none.csv"),
        ({"requests": [{"include": "plans/none.jmx"}]}, "plans/none.jmx"),
        ({"requests": [{"include": "plans/stress.jmx"}]}, "plans/stress.jmx"),
        ({"requests": [{"url": "/items/${id}"}]}, "/items/${id}"),
        (
            {
                "requests": [
                    {"label": "a", "url": "/"},
                    {"transaction": "b", "do": [{"label": "a", "url": "/"}]},
                ]
            },
            "'a'",
        ),
        ({"requests": [{"label": "a", "url": "/", "assert-jsonpath": [{}]}]}, "shop"),
        ({"requests": [{"transaction": "v", "do": [PAGE, PAGE]}]}, "'page'"),
        ({"requests": [{"label": "v", "loop": 3, "do": [PAGE]}]}, "LoopController"),
        ({"requests": [{"label": "v", "if": "true", "then": [PAGE]}]}, "IfController"),
        ({"requests": [{**PAGE, "body-file": "data/none.json", "method": "PUT"}]}, "none.json"),
    ],
)
def test_what_makes_no_elements_is_refused_in_a_line(tmp_path, changed, named):
    with pytest.raises(SettingError) as problem:
        parts(tmp_path, **changed)
    (line,) = str(problem.value).splitlines()
    assert named in line


def test_pauses_are_known_for_the_threads_that_they_keep(tmp_path):
    found = parts(tmp_path)
    assert [it.pause_s for it in found.requests] == [0, 0, 0.01]
    assert found.pause_s == pytest.approx(0.3 * 0.01)
    visit = {"action": "pause", "pause-duration": "4s"}
    pages = {"transaction": "v", "do": [{"label": "a", "url": "/a"}, visit]}
    text = plan(tmp_path, "check", requests=[pages]).read_text()
    assert "${__P(v_threads,120)}" in text
    assert "${__P(threads,300)}" in plan(tmp_path, "compare", requests=[pages]).read_text()


def test_no_label_is_called_as_comparisons_call_all_of_them(tmp_path):
    with pytest.raises(SettingError, match=r"scenarios\.shop has the label 'all labels', as"):
        parts(tmp_path, requests=[{"label": "all labels", "url": "/"}, {"label": "b", "url": "/b"}])
