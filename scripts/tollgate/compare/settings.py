"""The settings under modules.compare, with the environment that goes before them, as values. Pure.

HEAD_INJECT_WORK_PERCENT and HEAD_INJECT_DELAY_MS, of the environment alone, slow head.
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from tollgate.base.attempts import attempts
from tollgate.base.settings import (
    HalfShare,
    Names,
    Seconds,
    SettingError,
    Share,
    Word,
    configured,
    form,
    names,
    read,
)
from tollgate.base.urls import Url, read_url
from tollgate.compare.decide import FIRST_S
from tollgate.compare.model import CPU, METRICS, Answers, GateSettings, Metric
from tollgate.stats.sequential import LEAST_STEP

#: What plans/compare.jmx waits for, in ms, where no property says so.
TIMEOUTS_MS = {"connect_timeout": 2000, "response_timeout": 5000}
#: The timeouts of a user's own plan that states none.
OWN_TIMEOUTS_MS = {"connect_timeout": 5000, "response_timeout": 10000}
#: Seconds beyond the timeouts in which JMeter writes down what it has given up.
WRITING_S = 1.0


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


def own_timeouts(plan: str) -> dict[str, str]:
    """Timeouts that a plan's text has where no property says so, as far as they are not usual."""
    defaults = re.findall(rf"\$\{{__P\(({'|'.join(TIMEOUTS_MS)}),(\d+)\)\}}", plan)
    return {name: it for name, it in defaults if int(it) != TIMEOUTS_MS[name]}


#: Seeds are from 1 to this: the thread groups take 0 for a new one at each start.
LARGEST_SEED = 2**31 - 1
#: What slows an app, as app/settings.js calls it: its name in compare.json, and how it is written.
INJECTIONS = {
    "INJECT_WORK_PERCENT": ("work_percent", r"\d+(\.\d+)?", "a number of percent such as 20"),
    "INJECT_DELAY_MS": ("delay_ms", r"\d+", "a whole number of milliseconds such as 5"),
}
Gates = Annotated[
    tuple[Metric, ...],
    BeforeValidator(names),
    Field(min_length=1),
    form(
        f"name at least one of {', '.join(METRICS)}",
        "array",
        "string",
        pattern=rf"({'|'.join(METRICS)}|\s|,)+",
        items={"enum": [*METRICS]},
        minItems=1,
    ),
]
#: Where the processes of a side answer.
Urls = tuple[Url, ...]
#: Variables that go before settings.
VARIABLES = {"base": "BASE", "base-url": "BASE_URL", "head-url": "HEAD_URL", "mode": "MODE"}


@configured
class CompareSettings:
    """Base and head, compared at the same time; without a budget nothing is."""

    base: Word | None = None
    """A git revision; by default the merge base with the main branch. BASE goes before it."""
    base_url: Word | None = None
    """Of a service that runs already, as head-url is, or of several alike processes of it, parted
    by commas. BASE_URL goes before it."""
    head_url: Word | None = None
    """Of the other one, and of as many. HEAD_URL goes before it."""
    mode: Literal["fork", "cluster"] = "fork"
    """Of both apps, for they run at the same time. MODE goes before it."""
    processes: Annotated[int, Field(ge=1, le=16)] = 4
    """Of each side in fork mode."""
    effect: Share = GateSettings.effect
    """The smallest rise of a response time that matters."""
    typical_effect: Share = GateSettings.typical_effect
    """The same of the typical request."""
    tail_effect: Share = GateSettings.tail_effect
    """The same of the mean time of slow answers."""
    cpu_effect: Share = GateSettings.cpu_effect
    """The same of the CPU time of an answered request."""
    error_effect: HalfShare = GateSettings.error_effect
    """The same of the error rate, in percentage points."""
    stall_effect: HalfShare = GateSettings.stall_effect
    """The same of the share of answers that stall, in percentage points."""
    false_alarm: HalfShare = GateSettings.false_alarm
    """How often a candidate that is like the base may fail."""
    miss: HalfShare = GateSettings.miss
    """How often a metric may pass in spite of a rise as large as the effect."""
    budget: Seconds | None = None
    """Of measuring, at most."""
    gates: Gates = GateSettings.gates
    """The metrics that decide; cpu, p99 and mean are informational unless they are named."""
    labels: Names = GateSettings.labels
    """The labels that decide; by default all of the plan."""
    first: Seconds = FIRST_S
    """Of measuring before the samples are first looked at."""
    every: Seconds = 30.0
    """From one look to the next."""
    fail_fast: bool = GateSettings.fail_fast
    """Whether a decided FAIL ends the measuring."""
    cpu_share: Share = 0.5
    """Of the cores that base, head and JMeter may need together; arrivals come slower where they
    would need more."""
    profile: bool | None = None
    """Whether to find out what head computes more, after any verdict; by default after a FAIL."""


@configured
class OfScenario:
    """What a scenario says of its comparison."""

    answers: Answers = "any"
    """`same` makes a run INVALID in which head answers something else than base."""


def answers_of(name: str, scenario: Mapping[str, object]) -> Answers:
    """Raises SettingError."""
    answers = scenario.get("answers", None)
    own = {} if answers is None else {"answers": answers}
    return read(OfScenario, own, f"scenarios.{name}").answers


@dataclass(frozen=True)
class CompareSetup:
    """What the settings and the environment ask for."""

    settings: CompareSettings
    gate: GateSettings
    """What is promised."""
    urls: tuple[Urls, Urls] | None
    """Of base and head, one for each process; None where PM2 runs them."""
    injected: dict[str, float]
    """What slows head alone, by the name that it has in compare.json; only what is not 0."""


def read_setup(settings: Mapping[str, object], environment: Mapping[str, str]) -> CompareSetup:
    """Raises SettingError. An empty variable counts as unset, as it does for the apps."""
    if not isinstance(settings, Mapping):
        raise SettingError(
            f"modules.compare is {settings!r}: name one of its settings, as in "
            "modules.compare.budget=5m"
        )
    variables = {name: value for name, value in environment.items() if value}
    own = read(CompareSettings, settings, "modules.compare", variables, VARIABLES)
    urls = _urls(own)
    if urls:
        _refuse_with_urls(own, variables)
    shared = {it.name for it in fields(CompareSettings)} & {it.name for it in fields(GateSettings)}
    promised = {name: getattr(own, name) for name in shared}
    promised |= {it: promised[it] / attempts(variables) for it in ("false_alarm", "miss")}
    gate = GateSettings(**promised, budget_s=own.budget or GateSettings.budget_s)
    _check_looks(own.first, own.every, gate.budget_s)
    return CompareSetup(own, gate, urls, _injected(variables))


def _urls(settings: CompareSettings) -> tuple[Urls, Urls] | None:
    texts = {"BASE_URL": settings.base_url, "HEAD_URL": settings.head_url}
    missing = [name for name, text in texts.items() if not text]
    if len(missing) == len(texts):
        return None
    if missing:
        raise SettingError(f"{missing[0]} is missing: two URLs are compared, or two revisions")
    base, head = (_processes(name, text) for name, text in texts.items())
    if len(base) != len(head):
        raise SettingError(
            f"BASE_URL has {len(base)} and HEAD_URL {len(head)} processes: name as many of both"
        )
    return base, head


def _processes(name: str, text: str) -> Urls:
    """Of one side, parted by commas."""
    try:
        urls = tuple(read_url(name, each) for each in text.split(","))
    except ValueError as problem:
        raise SettingError(str(problem)) from None
    twice = next((it for it in urls if urls.count(it) > 1), None)
    if twice:
        raise SettingError(f"{name} has {twice.text} twice: name each process once")
    return urls


def _refuse_with_urls(settings: CompareSettings, variables: Mapping[str, str]) -> None:
    """What would say something about apps that are not started."""
    heads = [f"HEAD_{name}" for name in INJECTIONS]
    for name in ("BASE", "MODE", *INJECTIONS, *heads):
        if name in variables:
            raise SettingError(
                f"{name} is {variables[name]!r}, and BASE_URL and HEAD_URL are set, so that "
                "nothing is started that it could change: unset one or the other"
            )
    if CPU in settings.gates:
        raise SettingError(
            f"gates names {CPU}, and the CPU time of services by URL can't be seen: leave it out"
        )
    if settings.base is not None:
        raise SettingError("base and the two URLs are set: leave one or the other out")


def _injected(variables: Mapping[str, str]) -> dict[str, float]:
    injected = {}
    for name, (short, pattern, allowed) in INJECTIONS.items():
        of_head = f"HEAD_{name}"
        text = variables.get(of_head, "0")
        if not re.fullmatch(pattern, text):
            raise SettingError(f"{of_head} is {text!r}: write {allowed}")
        if of_head in variables and name in variables:
            raise SettingError(f"{name} slows base and head, and {of_head} head alone: set one")
        if float(text):
            injected[short] = float(text)
    return injected


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


def drawn_seeds(script: object, properties: Mapping[str, object]) -> dict[str, object]:
    """A seed for each that is not set. script: the plan's path. Raises SettingError."""
    try:
        plan = Path(str(script)).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise SettingError(f"the plan {script} can't be read: {problem}") from None
    unset = [name for name in seeds_of(plan) if name not in properties]
    return {name: drawn_seed() for name in unset}


def drawn_seed() -> int:
    return 1 + secrets.randbelow(LARGEST_SEED)


def repeat_command(seeds: Mapping[str, object]) -> str:
    """How to have the same arrivals and tosses once more."""
    return " ".join(f"-o modules.jmeter.properties.{name}={it}" for name, it in seeds.items())
