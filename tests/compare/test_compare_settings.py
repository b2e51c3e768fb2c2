"""modules.compare and the environment as values, or one line that says what to write."""

import re

import pytest
import yaml

from tollgate.base.paths import ROOT
from tollgate.base.urls import Url
from tollgate.compare.settings import SETTINGS, SettingError, is_compare, read_settings


def read(environment=None, **settings):
    given = {name.replace("_", "-"): value for name, value in settings.items()}
    return read_settings({"budget": "10m", **given}, environment or {})


def test_a_kind_that_names_no_budget_compares_nothing():
    assert not is_compare({})
    assert not is_compare({"compare": None})
    assert not is_compare({"compare": {"class": "tollgate.taurus.compare.Compare"}})
    assert is_compare({"compare": {"budget": 600}})


def test_without_more_than_a_budget_the_defaults_hold():
    found = read()
    assert (found.base, found.urls, found.mode, found.injected) == (None, None, "fork", {})
    assert (found.first_s, found.every_s, found.gate.budget_s) == (60, 30, 600)
    assert (found.gate.effect, found.gate.false_alarm) == (0.05, 0.01)
    assert (found.gate.typical_effect, found.gate.error_effect) == (0.02, 0.002)
    assert found.gate.stall_effect == 0.03
    assert found.gate.gates == ("typical", "p50", "p95", "stalls", "errors")
    assert found.gate.fail_fast


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), (0.05, 0.05), ("0.1 %", 0.001)])
def test_a_share_is_percent_or_a_number(text, share):
    found = read(
        effect=text, error_effect=text, stall_effect=text, false_alarm=text, miss=text
    ).gate
    for value in (found.effect, found.error_effect, found.stall_effect, found.miss):
        assert value == pytest.approx(share)


@pytest.mark.parametrize("given", [False, "false", "False"])
def test_a_failure_may_measure_on(given):
    assert not read(fail_fast=given).gate.fail_fast
    with pytest.raises(SettingError, match="fail-fast is 'no': write true or false"):
        read(fail_fast="no")


@pytest.mark.parametrize(
    ("text", "seconds"), [(600, 600), ("600", 600), ("10m", 600), ("90 s", 90)]
)
def test_a_time_is_seconds_or_has_a_unit(text, seconds):
    assert read(budget=text).gate.budget_s == seconds


def test_names_stand_in_a_list_or_parted_by_commas():
    assert read(gates="p50, errors").gate.gates == ("p50", "errors")
    assert read(gates=["p99"], labels="sum,pi").gate.labels == ("sum", "pi")


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"effect": 5}, "effect is 5: write a share above 0 and below 1, such as 5%"),
        ({"effect": "five"}, "effect is 'five': write a share such as 5% or 0.05"),
        ({"effect": "0%"}, "effect is '0%'"),
        ({"effect": True}, "effect is True"),
        ({"miss": "60%"}, "miss is a share and too large"),
        ({"budget": "forever"}, "budget is 'forever': write whole seconds, such as 600 or 10m"),
        ({"budget": 0}, "budget is 0"),
        ({"budget": "1.5s"}, "budget is '1.5s'"),
        ({"every": 1}, "every is 1 s of a budget of 600 s: write 3 s or more"),
        ({"first": 2}, "first is 2 s of a budget of 600 s: write 3 s or more"),
        ({"first": 598}, "first is 598 s of a budget of 600 s, too near its end for another look"),
        ({"gates": ""}, "gates is '': name at least one"),
        ({"gates": "p51"}, "gates: p51 is none of typical, p50, p95"),
        ({"mode": "both"}, "MODE is 'both': write fork or cluster; base and head run at the same"),
    ],
)
def test_what_can_t_be_read_is_named_with_what_to_write(settings, line):
    with pytest.raises(SettingError, match=re.escape(line)) as refused:
        read(**settings)
    assert "\n" not in str(refused.value)


def test_the_environment_goes_before_the_file():
    found = read({"BASE": "v2", "MODE": "cluster"}, base="v1", mode="fork")
    assert (found.base, found.mode) == ("v2", "cluster")
    found = read({"BASE": "", "MODE": ""}, base="v1", mode="cluster")
    assert (found.base, found.mode) == ("v1", "cluster")


def test_a_profile_follows_a_fail_any_verdict_or_none():
    assert [read({}, **given).profile for given in ({}, {"profile": True}, {"profile": False})] == [
        None,
        True,
        False,
    ]
    with pytest.raises(SettingError, match="profile is 'on': write true"):
        read({}, profile="on")


@pytest.mark.parametrize("mode", ["both", "frok"])
def test_only_one_mode_can_be_compared(mode):
    with pytest.raises(SettingError, match=f"MODE is '{mode}': write fork or cluster"):
        read({"MODE": mode})


def test_what_slows_head_alone_is_noted_unless_it_is_nothing():
    given = {"HEAD_INJECT_WORK_PERCENT": "20", "HEAD_INJECT_DELAY_MS": "0"}
    assert read(given).injected == {"work_percent": 20.0}
    assert read({"INJECT_WORK_PERCENT": "20"}).injected == {}


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HEAD_INJECT_WORK_PERCENT", "-1"),
        ("HEAD_INJECT_WORK_PERCENT", "20%"),
        ("HEAD_INJECT_DELAY_MS", "2.5"),
        ("HEAD_INJECT_DELAY_MS", "nan"),
    ],
)
def test_what_slows_head_must_be_a_number(variable, value):
    with pytest.raises(SettingError, match=f"{variable} is '{re.escape(value)}': write a"):
        read({variable: value})


def test_what_slows_both_and_what_slows_head_alone_don_t_go_together():
    with pytest.raises(SettingError, match="INJECT_DELAY_MS slows base and head, and HEAD_INJECT_"):
        read({"INJECT_DELAY_MS": "5", "HEAD_INJECT_DELAY_MS": "9"})


def test_two_urls_are_a_protocol_a_host_and_a_port_each():
    given = {"BASE_URL": "http://127.0.0.1:8080", "HEAD_URL": "https://[::1]/"}
    assert read(given).urls == (
        Url("http", "127.0.0.1", 8080),
        Url("https", "::1", 443),
    )
    assert [each.text for each in read(given).urls] == ["http://127.0.0.1:8080", "https://[::1]"]
    assert read(base_url="http://a", head_url="http://b").urls[1].host == "b"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("127.0.0.1:8080", "write a URL such as"),
        ("ftp://127.0.0.1", "write a URL such as"),
        ("http://", "write a URL such as"),
        ("http://a:port", "write a URL such as"),
        ("http://a:0", "write a URL such as"),
        ("http://a:70000", "write a URL such as"),
        ("http://[::1", "write a URL such as"),
        ("http://my host:8080", "a URL has no blanks: write one such as"),
        ("http://a:80\n80", "a URL has no blanks: write one such as"),
        ("http://me:secret@a", "holds a user's name or password"),
        ("http://a/v2", "the plan's paths begin at /"),
        ("http://a?b=c", "the plan's paths begin at /"),
        ("http://a/#b", "the plan's paths begin at /"),
    ],
)
def test_any_other_url_is_refused_and_no_password_is_told(url, why):
    with pytest.raises(SettingError, match=re.escape(why)) as refused:
        read({"BASE_URL": "http://127.0.0.1", "HEAD_URL": url})
    assert str(refused.value).startswith("HEAD_URL ")
    assert "secret" not in str(refused.value)


def test_one_url_alone_is_refused():
    with pytest.raises(SettingError, match="HEAD_URL is missing"):
        read({"BASE_URL": "http://127.0.0.1"})


@pytest.mark.parametrize(
    "variable",
    ["BASE", "MODE", "INJECT_DELAY_MS", "HEAD_INJECT_DELAY_MS", "HEAD_INJECT_WORK_PERCENT"],
)
def test_what_says_something_about_apps_does_not_go_with_urls(variable):
    urls = {"BASE_URL": "http://a", "HEAD_URL": "http://b"}
    value = {"BASE": "main", "MODE": "fork"}.get(variable, "5")
    with pytest.raises(SettingError, match=f"^{variable} is '{value}', and BASE_URL and HEAD_URL"):
        read({**urls, variable: value})


def test_a_base_and_urls_in_the_file_don_t_go_together():
    with pytest.raises(SettingError, match="base and the two URLs are set"):
        read(base="main", base_url="http://a", head_url="http://b")


def test_every_setting_is_told_at_the_top_of_the_module():
    text = (ROOT / "scripts" / "tollgate" / "compare" / "settings.py").read_text()
    told = text.split('"""')[1]
    assert all(re.search(rf"\b{name}\b", told) for name in SETTINGS)


def test_what_the_settings_are_by_default_is_one_number_everywhere():
    """At the top of the module, where none is given, and in taurus.yml."""
    text = (ROOT / "scripts" / "tollgate" / "compare" / "settings.py").read_text()
    kinds = yaml.safe_load((ROOT / "taurus.yml").read_text())["cli-aliases"]
    given = kinds["compare"]["modules"]["compare"]
    found = read().gate
    for name in ("effect", "error-effect", "stall-effect", "false-alarm", "miss"):
        told = re.search(rf"^    {name}: ([\d.]+)%", text, re.MULTILINE)[1]
        default = 100 * getattr(found, name.replace("-", "_"))
        assert (given[name], float(told)) == (f"{told}%", pytest.approx(default))
