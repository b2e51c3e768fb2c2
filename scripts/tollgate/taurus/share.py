"""What the service `load` does in a run that sends one engine's share of a load.

    ENGINE=2/3            which engine this is, from 1, and how many there are
    START_AT=2026-11-22T21:00:00Z
                          when all of them begin; without it each does when it is ready

Each engine sends its share of the arrivals, for a fixed length: `tollgate merge` judges all of them
together. A plan of the user's own, in the kind `plan`, runs as it is on each engine.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from bzt import TaurusConfigError
from bzt.engine import Engine

from tollgate.base import atomic
from tollgate.base.text import did_you_mean
from tollgate.compare.settings import is_compare
from tollgate.forecast.load import shared_forecast
from tollgate.forecast.model import Followed, from_record, to_record
from tollgate.plan.jmx import read_tree
from tollgate.plan.read import expander_of, read_plan
from tollgate.record.manifest import ShareRecord as Record
from tollgate.record.manifest import digest
from tollgate.schedule.share import Share, ShareError, parse_share
from tollgate.schedule.share_load import shared_properties
from tollgate.schedule.share_rows import COPY, HOW, SPLIT, Feed, feeds_of, share_of_rows
from tollgate.targets.scenarios import given_properties, name_of, scenario_of, targets_of
from tollgate.taurus.prepared import PreparedExecution

#: Kinds that compare, or find out by themselves how much to send: no part of them is a load.
UNDIVIDED = ("compare", "study", "capacity")
#: Where an engine's own data files stand in the folder of its run.
DATA = "data"


@dataclass
class Sharing:
    """share: of this run. rows: copy or split. start_at: epoch seconds, None for as soon as can
    be. runs_whole: whether each engine runs all of a user's own plan."""

    share: Share
    rows: str
    start_at: float | None
    runs_whole: bool

    @classmethod
    def of(
        cls, config: Mapping[str, Any], settings: Mapping[str, Any], env: Mapping[str, str]
    ) -> Sharing | None:
        """None for a run that sends all of its load. Raises TaurusConfigError."""
        start = env.get("START_AT", "")
        try:
            share = parse_share(env["ENGINE"]) if env.get("ENGINE") else None
        except ShareError as problem:
            raise TaurusConfigError(f"load: {problem}") from None
        rows = rows_setting(settings)
        if share is None:
            if start:
                raise TaurusConfigError(
                    f"load: START_AT is {start!r}, and it is for engines that begin together: set "
                    "ENGINE as well, such as 1/3, or leave it out"
                )
            return None
        refuse_undivided(config, f"ENGINE is {share}")
        return cls(share, rows, _moment(start) if start else None, is_own_plan(config))

    def give(
        self,
        engine: Engine,
        executions: Sequence[Mapping],
        prepared: Mapping[str, PreparedExecution],
    ) -> Record:
        """Write the share into the scenarios; returns what run.json tells of it. Raises
        TaurusConfigError, ShareError, PlanError."""
        data: dict[str, str] = {}
        for execution in executions:
            scenario = scenario_of(engine.config, execution)
            if self.start_at is not None:
                self._refuse_own_target(scenario, name_of(execution))
            if self.runs_whole:
                if self.share.of > 1:
                    notes = prepared[name_of(execution)].notes
                    notes.append(times_the_plan(self.share.of))
            else:
                self._give(engine, scenario, prepared[name_of(execution)], data)
        if self.start_at is not None:
            self._refuse_past()
        share = self.share
        rows = "" if self.runs_whole else self.rows
        return Record(
            number=share.number, of=share.of, rows=rows, data=data, start_at=self.start_at
        )

    def _give(
        self, engine: Engine, scenario: Any, prepared: PreparedExecution, data: dict[str, str]
    ) -> None:
        part = part_of(engine, scenario, prepared, self.share, self.rows)
        for feed, text in part.rows:
            part.own[feed.property] = str(_write(feed, text, Path(engine.artifacts_dir)))
            data[feed.property] = digest(feed.file)
        prepared.forecast = part.forecast
        prepared.undivided_properties = {name: part.given.get(name) for name in part.own}
        scenario.merge({"properties": part.own})

    def _refuse_own_target(self, scenario: Mapping, name: str) -> None:
        if targets_of(scenario, name):
            raise TaurusConfigError(
                f"load: START_AT is for engines on several machines, and the target of scenario "
                f"{name!r} is an app that PM2 starts on this one alone: give the scenario the "
                "`url` of a service that all of them reach"
            )

    def _refuse_past(self) -> None:
        if self.start_at <= time.time():
            raise TaurusConfigError(
                f"load: START_AT, {_utc(self.start_at)}, is over: the other engines have begun; "
                "choose a later one for all of them"
            )

    def wait(self, log: logging.Logger) -> None:
        """Until START_AT. Raises TaurusConfigError where getting ready took longer than that."""
        if self.start_at is None:
            return
        self._refuse_past()
        log.info("Ready; waiting until %s", _utc(self.start_at))
        while (left_s := self.start_at - time.time()) > 0:
            time.sleep(min(left_s, 1))


@dataclass
class SharePlan:
    """One engine's part of the load of a scenario. given: the properties of the whole. own: those
    of this engine in their place. rows: the text of its own data files, those without a property
    left out. shared: the data files that all engines read as they are. forecast: as run.json has
    that of the whole, None where there is none."""

    given: dict[str, str]
    own: dict[str, str]
    rows: list[tuple[Feed, str]]
    shared: list[Feed]
    forecast: dict[str, Any] | None


def part_of(
    engine: Engine, scenario: Any, prepared: PreparedExecution, share: Share, how: str
) -> SharePlan:
    """how: rows are shared. Raises ShareError, PlanError."""
    given, path = given_properties(engine.config, scenario), script_of(scenario)
    plan, root = read_plan(path, given), read_tree(path, given)
    own = shared_properties(plan, root, given, share)
    rows, shared = [], []
    for feed in feeds_of(root, path.absolute().parent, expander_of(root, given)):
        if feed.property:
            rows.append((feed, _rows(feed, share, how)))
        elif how == SPLIT:
            raise ShareError(
                f"{feed.name} names its file without a property, so that all engines would "
                f"send its rows: write ${{__P(NAME,{feed.file.name})}} as its file name"
            )
        else:
            shared.append(feed)
    forecast = prepared.forecast
    if forecast:
        followed = from_record(forecast)
        steps = shared_forecast(followed.steps, share)
        forecast = to_record(Followed(followed.path, followed.factor, followed.scale, steps))
    return SharePlan(given, own, rows, shared, forecast)


def script_of(scenario: Any) -> Path:
    return Path(str(scenario.get("script", None) or ""))


def _rows(feed: Feed, share: Share, how: str) -> str:
    try:
        with feed.file.open(encoding=feed.encoding, newline="") as file:
            text = file.read()
    except (OSError, ValueError, LookupError) as problem:
        raise ShareError(f"{feed.file} of {feed.name} can't be read: {problem}") from None
    return share_of_rows(feed, text, share, how)


def _write(feed: Feed, rows: str, folder: Path) -> Path:
    """The engine's own file of a feed."""
    target = folder.absolute() / DATA / f"{feed.property}.csv"
    target.parent.mkdir(exist_ok=True)
    with atomic.replacing(target, encoding=feed.encoding, newline="") as file:
        file.write(rows)
    return target


def rows_setting(settings: Mapping[str, Any]) -> str:
    """copy or split. Raises TaurusConfigError."""
    rows = str(settings.get("rows", COPY))
    if rows not in HOW:
        raise TaurusConfigError(f"load: modules.load.rows is {rows!r}: {did_you_mean(rows, HOW)}")
    return rows


def is_own_plan(config: Mapping[str, Any]) -> bool:
    """Whether the kind is `plan`: that of a user's own plan, all of which each engine runs."""
    return (config.get("modules").get("verdict", None) or {}).get("kind", "") == "plan"


def times_the_plan(of: int) -> str:
    """What the verdict says where so many engines run all of a plan."""
    return f"the plan runs as it is on each of {of} engines: the load is {of} times the plan's"


def refuse_undivided(config: Mapping[str, Any], given: str) -> None:
    """given: what says that there are several engines. Raises TaurusConfigError."""
    modules = config.get("modules")
    kind = str((modules.get("verdict", None) or {}).get("kind", ""))
    if is_compare(modules):
        kind = "compare"
    if (modules.get("study", None) or {}).get("design", None):
        kind = "study"
    if kind in UNDIVIDED:
        raise TaurusConfigError(
            f"load: {given}, and the kind {kind} is not a load that engines share: leave it out"
        )


def _moment(text: str) -> float:
    try:
        # Python 3.10 reads no Z.
        found = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
        return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()
    except ValueError:
        raise TaurusConfigError(
            f"load: START_AT is {text!r}: write a UTC time such as 2026-11-22T21:00:00Z"
        ) from None


def _utc(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
