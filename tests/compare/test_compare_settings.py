import re
from dataclasses import replace

import pytest
import yaml

from tollgate.base.paths import SUITE
from tollgate.base.settings import SettingError
from tollgate.base.urls import Url
from tollgate.compare.model import GateSettings
from tollgate.compare.settings import read_setup


def read(environment=None, **settings):
    given = {name.replace("_", "-"): value for name, value in settings.items()}
    return read_setup({"budget": "10m", **given}, environment or {})


def test_without_more_than_a_budget_the_defaults_hold():
    found = read()
    assert (found.urls, found.injected) == (None, {})
    wanted = found.settings
    assert (wanted.base, wanted.mode, wanted.first, wanted.every) == (None, "fork", 60, 30)
    assert found.gate == GateSettings(
        **{"budget_s": 600, "effect": 0.05, "false_alarm": 0.01, "fail_fast": True},
        **{"typical_effect": 0.02, "error_effect": 0.002, "stall_effect": 0.03},
        **{"cpu_effect": 0.02, "tail_effect": 0.05},
        gates=("typical", "p50", "p95", "tail", "stalls", "errors"),
    )


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), (0.05, 0.05), ("0.1 %", 0.001)])
@pytest.mark.parametrize("name", ["effect", "tail_effect", "stall_effect", "false_alarm", "miss"])
def test_a_share_is_percent_or_a_number(name, text, share):
    assert getattr(read(**{name: text}).gate, name) == pytest.approx(share)


def test_a_failure_may_measure_on():
    assert not read(fail_fast=False).gate.fail_fast


@pytest.mark.parametrize(
    ("text", "seconds"), [(600, 600), ("600", 600), ("10m", 600), ("90 s", 90)]
)
def test_a_time_is_seconds_or_has_a_unit(text, seconds):
    assert read(budget=text).gate.budget_s == seconds


def test_cpu_time_decides_where_it_is_asked_for_and_can_be_seen():
    assert read(gates="typical,cpu").gate.gates == ("typical", "cpu")
    urls = {"BASE_URL": "http://127.0.0.1:1", "HEAD_URL": "http://127.0.0.1:2"}
    with pytest.raises(SettingError, match="gates names cpu, and the CPU time of services by URL"):
        read(urls, gates="typical,cpu")
    assert "cpu" not in read(urls).gate.gates


def test_names_stand_in_a_list_or_parted_by_commas():
    assert read(gates="p50, errors").gate.gates == ("p50", "errors")
    assert read(gates=["p99"], labels="sum,pi").gate.labels == ("sum", "pi")


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"effect": 5}, "effect is 5: write a share above 0 and below 1, such as 5%"),
        ({"effect": "five"}, "effect is 'five': write a share above 0 and below 1"),
        ({"effect": "0%"}, "effect is '0%'"),
        ({"effect": True}, "effect is True"),
        ({"miss": "60%"}, "miss is '60%': write a share above 0 and at most 0.5"),
        ({"budget": "forever"}, "budget is 'forever': write whole seconds, such as 600 or 10m"),
        ({"budget": 0}, "budget is 0"),
        ({"budget": "1.5s"}, "budget is '1.5s'"),
        ({"every": 1}, "every is 1 s of a budget of 600 s: write 3 s or more"),
        ({"first": 2}, "first is 2 s of a budget of 600 s: write 3 s or more"),
        ({"first": 598}, "first is 598 s of a budget of 600 s, too near its end for another look"),
        ({"gates": ""}, "gates is '': name at least one"),
        ({"gates": "p51"}, "gates is 'p51': name at least one of typical, p50, p95, "),
        ({"mode": "both"}, "modules.compare.mode is 'both': write fork or cluster"),
        ({"profile": "on"}, "profile is 'on': write true or false"),
        ({"fail_fast": "no"}, "fail-fast is 'no': write true or false"),
        (
            {"base": "main", "base_url": "http://a", "head_url": "http://b"},
            "base and the two URLs are set",
        ),
    ],
)
def test_what_can_t_be_read_is_named_with_what_to_write(settings, line):
    with pytest.raises(SettingError, match=re.escape(line)) as refused:
        read(**settings)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("environment", "line"),
    [
        *(({"MODE": it}, f"MODE is '{it}': write fork or cluster") for it in ("both", "frok")),
        ({"HEAD_INJECT_WORK_PERCENT": "-1"}, "HEAD_INJECT_WORK_PERCENT is '-1': write a"),
        ({"HEAD_INJECT_WORK_PERCENT": "20%"}, "HEAD_INJECT_WORK_PERCENT is '20%': write a"),
        ({"HEAD_INJECT_DELAY_MS": "2.5"}, "HEAD_INJECT_DELAY_MS is '2.5': write a"),
        ({"HEAD_INJECT_DELAY_MS": "nan"}, "HEAD_INJECT_DELAY_MS is 'nan': write a"),
        (
            {"INJECT_DELAY_MS": "5", "HEAD_INJECT_DELAY_MS": "9"},
            "INJECT_DELAY_MS slows base and head, and HEAD_INJECT_",
        ),
        ({"BASE_URL": "http://127.0.0.1"}, "HEAD_URL is missing"),
    ],
)
def test_what_the_environment_can_t_say_is_refused(environment, line):
    with pytest.raises(SettingError, match=re.escape(line)):
        read(environment)


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({"BASE": "v2", "MODE": "fork"}, ("v2", "fork")),
        ({"BASE": "", "MODE": ""}, ("v1", "cluster")),
    ],
)
def test_the_environment_goes_before_the_file(environment, found):
    given = read(environment, base="v1", mode="cluster").settings
    assert (given.base, given.mode) == found


def test_a_profile_follows_a_fail_any_verdict_or_none():
    given = ({}, {"profile": True}, {"profile": False})
    assert [read(**it).settings.profile for it in given] == [None, True, False]


def test_what_slows_head_alone_is_noted_unless_it_is_nothing():
    given = {"HEAD_INJECT_WORK_PERCENT": "20", "HEAD_INJECT_DELAY_MS": "0"}
    assert read(given).injected == {"work_percent": 20.0}
    assert read({"INJECT_WORK_PERCENT": "20"}).injected == {}


def test_two_urls_are_a_protocol_a_host_and_a_port_each():
    found = read({"BASE_URL": "http://127.0.0.1:8080", "HEAD_URL": "https://[::1]/"}).urls
    assert found == ((Url("http", "127.0.0.1", 8080),), (Url("https", "::1", 443),))
    assert [each.text for [each] in found] == ["http://127.0.0.1:8080", "https://[::1]"]
    assert read(base_url="http://a", head_url="http://b").urls[1][0].host == "b"


def test_each_side_may_be_several_alike_processes():
    found = read({"BASE_URL": "http://a:1, http://a:2", "HEAD_URL": "http://b:1,http://b:2"}).urls
    assert [[each.url for each in side] for side in found] == [
        ["http://a:1", "http://a:2"],
        ["http://b:1", "http://b:2"],
    ]


@pytest.mark.parametrize(
    ("base", "line"),
    [
        ("http://a:1,http://a:2", "BASE_URL has 2 and HEAD_URL 1 processes: name as many of both"),
        ("http://a:80,http://a", "BASE_URL has http://a:80 twice: name each process once"),
    ],
)
def test_sides_of_unlike_processes_are_refused(base, line):
    with pytest.raises(SettingError, match=re.escape(line)):
        read({"BASE_URL": base, "HEAD_URL": "http://b"})


@pytest.mark.parametrize(
    ("url", "why"),
    [
        *((it, "write a URL such as") for it in ("127.0.0.1:8080", "ftp://127.0.0.1", "http://")),
        *((f"http://a:{it}", "write a URL such as") for it in ("port", "0", "70000")),
        ("http://[::1", "write a URL such as"),
        ("http://my host:8080", "a URL has no blanks: write one such as"),
        ("http://a:80\n80", "a URL has no blanks: write one such as"),
        ("http://me:secret@a", "holds a user's name or password"),
        *((f"http://a{it}", "port without a path") for it in ("/v2", "?b=c", "/#b")),
    ],
)
def test_any_other_url_is_refused_and_no_password_is_told(url, why):
    with pytest.raises(SettingError, match=re.escape(why)) as refused:
        read({"BASE_URL": "http://127.0.0.1", "HEAD_URL": url})
    assert str(refused.value).startswith("HEAD_URL ")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        *(("BASE", "main"), ("MODE", "fork"), ("INJECT_DELAY_MS", "5")),
        *(("HEAD_INJECT_DELAY_MS", "5"), ("HEAD_INJECT_WORK_PERCENT", "5")),
    ],
)
def test_what_says_something_about_apps_does_not_go_with_urls(variable, value):
    urls = {"BASE_URL": "http://a", "HEAD_URL": "http://b"}
    with pytest.raises(SettingError, match=f"^{variable} is '{value}', and BASE_URL and HEAD_URL"):
        read({**urls, variable: value})


@pytest.mark.parametrize("name", ["effect", "error-effect", "stall-effect", "false-alarm", "miss"])
def test_what_a_setting_is_by_default_is_what_taurus_yml_sets(name):
    kinds = yaml.safe_load((SUITE / "taurus.yml").read_text())["cli-aliases"]
    default = getattr(read().gate, name.replace("-", "_"))
    assert kinds["compare"]["modules"]["compare"][name] == f"{100 * default:g}%"


def test_runs_of_one_job_share_the_errors_that_are_promised():
    settings = {"false-alarm": "3%", "miss": "4%"}
    gate = read({"TOLLGATE_ATTEMPTS": "2"}, **settings).gate
    assert (gate.false_alarm, gate.miss) == (0.015, 0.02)
    assert read({}, **settings).gate == replace(gate, false_alarm=0.03, miss=0.04)
