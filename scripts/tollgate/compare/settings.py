"""The settings under modules.compare, with the environment that goes before them, as values. Pure.

    base: main            [BASE] a git revision; by default the merge base with the main branch
    base-url, head-url    [BASE_URL, HEAD_URL] both: compare what runs there, and start nothing
    mode: fork            [MODE] of both apps, or `cluster`
    effect: 5%            the smallest rise of a response time that matters
    typical-effect: 2%    the same of the typical request
    error-effect: 0.2%    the same of the error rate, in percentage points
    stall-effect: 3%      the same of the share of answers that stall, in percentage points
    false-alarm: 1%       how often a candidate that is like the base may fail
    miss: 2%              how often a metric may pass in spite of a rise as large as the effect
    budget: 10m           of measuring; a kind that names none compares nothing
    gates: typical,p50,p95,stalls,errors    what decides; p99 and mean are informational
    labels: sum,search    the labels that decide; by default all of the plan
    first: 60             seconds of measuring before the samples are first looked at
    every: 30             seconds from one look to the next
    fail-fast: true       whether a decided FAIL ends the measuring
    cpu-share: 50%        of the cores that base, head and JMeter may need together; the plan's
                          arrivals come slower where they would need more
    profile: true         find out what head computes more after any verdict; by default after a
                          FAIL, with false never

HEAD_INJECT_WORK_PERCENT and HEAD_INJECT_DELAY_MS, of the environment alone, slow head.
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal

from tollgate.base import records
from tollgate.base.urls import Url, read_url
from tollgate.compare import pace
from tollgate.compare.decide import FIRST_S
from tollgate.compare.model import GateSettings
from tollgate.stats.sequential import LEAST_STEP

#: What plans/compare.jmx waits for, in ms, where no property says so.
TIMEOUTS_MS = {"connect_timeout": 2000, "response_timeout": 5000}
#: Seconds beyond the timeouts in which JMeter writes down what it has given up.
WRITING_S = 1.0


class SettingError(ValueError):
    """One line: which setting, its value, what to write."""


def lag_s(properties: Mapping[str, object]) -> float:
    """Seconds after which whatever was sent has been answered or given up, and is in the file.

    properties: of the plan. Raises SettingError for timeouts that never come: then what is slow
    might be missing for good.
    """
    total_ms = 0.0
    for name, usual_ms in TIMEOUTS_MS.items():
        text = str(properties.get(name, usual_ms))
        if not re.fullmatch(r"\d+", text) or not int(text):
            raise SettingError(
                f"the property {name} is {text!r}: write whole milliseconds above 0, for the "
                "samples are only judged once everything sent before has been answered or given up"
            )
        total_ms += int(text)
    return total_ms / 1000 + WRITING_S


#: Seeds are from 1 to this: the thread groups take 0 for a new one at each start.
LARGEST_SEED = 2**31 - 1
#: What slows an app, as app/settings.js calls it: its name in compare.json, and how it is written.
INJECTIONS = {
    "INJECT_WORK_PERCENT": ("work_percent", r"\d+(\.\d+)?", "a number of percent such as 20"),
    "INJECT_DELAY_MS": ("delay_ms", r"\d+", "a whole number of milliseconds such as 5"),
}
_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}


@dataclass(frozen=True)
class CompareSettings:
    """modules.compare, and what the environment says of it."""

    __pydantic_config__ = records.STRICT

    gate: GateSettings
    """What is promised."""
    base: str | None = None
    """A revision; None for the default."""
    urls: tuple[Url, Url] | None = None
    """Of base and head; None where PM2 runs them."""
    mode: Literal["fork", "cluster"] = "fork"
    """Of both, for they run at the same time."""
    first_s: float = FIRST_S
    """When to look first."""
    every_s: float = 30.0
    """From one look to the next."""
    injected: dict[str, float] = field(default_factory=dict)
    """What slows head alone, by the name that it has in compare.json; only what is not 0."""
    profile: bool | None = None
    """After any verdict or none; None for after a FAIL."""
    cpu_share: float = 0.5
    """Of the cores, what both sides and JMeter may need."""


def read_settings(
    settings: Mapping[str, object], environment: Mapping[str, str]
) -> CompareSettings:
    """Raises SettingError. An empty variable counts as unset, as it does for the apps."""
    given = {name: value for name, value in environment.items() if value}
    urls = _urls(settings, given)
    if urls:
        _refuse_with_urls(settings, given)
    own = {name: it for name, it in settings.items() if name in _READERS and it is not None}
    own |= {name.lower(): given[name] for name in ("BASE", "MODE") if name in given}
    values = {
        _FIELDS.get(name, name.replace("-", "_")): _READERS[name](name, it)
        for name, it in own.items()
    }
    promised = {it.name: values.pop(it.name) for it in fields(GateSettings) if it.name in values}
    read = {"gate": promised, "injected": _injected(given), **values}
    try:
        found = replace(records.parse(CompareSettings, read), urls=urls)
    except ValueError as problem:
        name, _, why = str(problem).removeprefix("gate.").partition(": ")
        raise SettingError(f"{name.replace('_', '-')}: {why}") from None
    _check_looks(found.first_s, found.every_s, found.gate.budget_s)
    return found


def _urls(settings: Mapping[str, object], given: Mapping[str, str]) -> tuple[Url, Url] | None:
    names = {"BASE_URL": "base-url", "HEAD_URL": "head-url"}
    texts = {name: given.get(name) or settings.get(key, None) for name, key in names.items()}
    missing = [name for name, text in texts.items() if not text]
    if len(missing) == len(texts):
        return None
    if missing:
        raise SettingError(f"{missing[0]} is missing: two URLs are compared, or two revisions")
    try:
        base, head = (read_url(name, str(text)) for name, text in texts.items())
    except ValueError as problem:
        raise SettingError(str(problem)) from None
    return base, head


def _refuse_with_urls(settings: Mapping[str, object], given: Mapping[str, str]) -> None:
    """What would say something about apps that are not started."""
    heads = [f"HEAD_{name}" for name in INJECTIONS]
    for name in ("BASE", "MODE", *INJECTIONS, *heads):
        if name in given:
            raise SettingError(
                f"{name} is {given[name]!r}, and BASE_URL and HEAD_URL are set, so that nothing is "
                "started that it could change: unset one or the other"
            )
    if settings.get("base", None) is not None:
        raise SettingError("base and the two URLs are set: leave one or the other out")


def _injected(given: Mapping[str, str]) -> dict[str, float]:
    found = {}
    for name, (short, pattern, allowed) in INJECTIONS.items():
        variable = f"HEAD_{name}"
        text = given.get(variable, "0")
        if not re.fullmatch(pattern, text):
            raise SettingError(f"{variable} is {text!r}: write {allowed}")
        if variable in given and name in given:
            raise SettingError(
                f"{name} slows base and head, and {variable} head alone: set one of the two"
            )
        if float(text):
            found[short] = float(text)
    return found


def _share(name: str, value: object) -> float:
    """`5%` or 0.05."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*(%?)", str(value).strip())
    share = float(match[1]) / (100 if match[2] else 1) if match else math.nan
    if isinstance(value, bool) or not 0 < share < 1:
        raise SettingError(
            f"{name} is {value!r}: write a share above 0 and below 1, such as 5% or 0.05"
        )
    return share


def seconds_of(name: str, value: object) -> float:
    """`600`, `10m`, `10min`, `90 s`, `1m30s` or `1h`: whole seconds, for these are what is counted.
    name: of the setting. Raises SettingError."""
    number, text = r"(\d+(?:\.\d+)?)", str(value).strip()
    parts = re.findall(rf"{number}\s*(min|[smh]?)", text)
    is_time = re.fullmatch(rf"{number}|({number}\s*(min|[smh])\s*)+", text)
    seconds = sum(float(it) * _SECONDS[unit] for it, unit in parts) if is_time else math.nan
    if isinstance(value, bool) or not seconds >= 1 or seconds % 1:
        raise SettingError(f"{name} is {value!r}: write whole seconds, such as 600 or 10m")
    return seconds


def _names(name: str, value: object) -> tuple[str, ...]:
    """A list, or names parted by commas."""
    parts = value if isinstance(value, list) else str(value).split(",")
    names = tuple(dict.fromkeys(each for each in (str(part).strip() for part in parts) if each))
    if not names:
        raise SettingError(f"{name} is {value!r}: name at least one")
    return names


_SHARES = ("effect", "typical-effect", "error-effect", "stall-effect", "false-alarm", "miss")
#: How each setting but the two URLs is read.
_READERS: dict[str, Callable[[str, object], object]] = {
    **dict.fromkeys((*_SHARES, "cpu-share"), _share),
    **dict.fromkeys(("budget", "first", "every"), seconds_of),
    **dict.fromkeys(("gates", "labels"), _names),
    **dict.fromkeys(("mode", "fail-fast", "profile"), lambda _, value: value),
    "base": lambda _, value: str(value),
}
SETTINGS = (*_READERS, "base-url", "head-url")
_FIELDS = {"budget": "budget_s", "first": "first_s", "every": "every_s"}


def _check_looks(first_s: float, every_s: float, budget_s: float) -> None:
    for name, value in (("first", first_s), ("every", every_s)):
        if value < LEAST_STEP * budget_s:
            least = math.ceil(LEAST_STEP * budget_s)
            raise SettingError(
                f"{name} is {value:g} s of a budget of {budget_s:g} s: write {least} s or more"
            )
    if 0 < budget_s - first_s < LEAST_STEP * budget_s:
        most = math.floor(budget_s - LEAST_STEP * budget_s)
        raise SettingError(
            f"first is {first_s:g} s of a budget of {budget_s:g} s, too near its end for another "
            f"look: write {most} s or less, or {budget_s:g} s"
        )


def seeds_of(plan: str) -> list[str]:
    """The properties of a plan that seed its random numbers.

    Each run has its own. With the same arrivals and the same tosses of the coin head would get the
    same harder half of the requests each time, and all runs would err together.
    """
    return sorted(set(re.findall(r"\$\{__P\((\w*seed)\b", plan)))


def drawn_seeds(script: object, properties: Mapping[str, object]) -> dict[str, int]:
    """A seed for each that is not set. script: the plan's path. Raises SettingError."""
    try:
        plan = Path(str(script)).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise SettingError(f"the plan {script} can't be read: {problem}") from None
    unset = [name for name in seeds_of(plan) if name not in properties]
    return {name: 1 + secrets.randbelow(LARGEST_SEED) for name in unset}


def schedule_of(
    script: object, properties: Mapping[str, object]
) -> tuple[dict[str, int], dict[str, int]]:
    """pace.usual of the plan at a path that drawn_seeds has read, and what of it properties fix.
    Raises SettingError."""
    usual = pace.usual(Path(str(script)).read_text(encoding="utf-8"))
    try:
        return usual, pace.fixed(usual, properties)
    except ValueError as problem:
        raise SettingError(str(problem)) from None


def repeat_command(seeds: Mapping[str, int]) -> str:
    """How to have the same arrivals and tosses once more."""
    return " ".join(f"-o modules.jmeter.properties.{name}={it}" for name, it in seeds.items())
