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
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from bzt import TaurusConfigError
from bzt.engine import Engine

from tollgate.engines.part import part_of
from tollgate.record.manifest import ShareRecord, digest
from tollgate.schedule import share_rows
from tollgate.schedule.share import Share, ShareError, parse_share
from tollgate.targets import scenarios
from tollgate.taurus.shared import PreparedExecution, problems_as

#: Where an engine's own data files stand in the folder of its run.
DATA = "data"


@dataclass
class Sharing:
    """share: of this run. rows: as shared_rows reads them. start_at: epoch seconds, None for as
    soon as can be."""

    share: Share
    rows: str
    start_at: float | None

    @classmethod
    def of(cls, config: Mapping[str, Any], rows: str, env: Mapping[str, str]) -> Sharing | None:
        """None for a run that sends all of its load. Raises TaurusConfigError."""
        start, rows = env.get("START_AT", ""), shared_rows(config, rows)
        if not env.get("ENGINE"):
            if start:
                raise TaurusConfigError(
                    f"load: START_AT is {start!r}, and it is for engines that begin together: set "
                    "ENGINE as well, such as 1/3, or leave it out"
                )
            return None
        with problems_as(TaurusConfigError, "load", ShareError):
            share = parse_share(env["ENGINE"])
        refuse_undivided(config, f"ENGINE is {share}")
        return cls(share, rows, _moment(start) if start else None)

    def give(self, engine: Engine, prepared: Mapping[str, PreparedExecution]) -> ShareRecord:
        """Write the share into the scenarios; returns its record for run.json. Raises
        TaurusConfigError, ShareError, PlanError."""
        data: dict[str, str] = {}
        for name, scenario in scenarios.executions_of(engine.config):
            if self.start_at is not None and scenarios.targets_of(scenario, name):
                raise TaurusConfigError(
                    "load: START_AT is for engines on several machines, and the target of scenario "
                    f"{name!r} is an app that PM2 starts on this one alone: give the scenario the "
                    "`url` of a service that all of them reach"
                )
            if self.rows:
                self._give(engine, scenario, prepared[name], data)
            elif self.share.of > 1:
                prepared[name].notes.append(times_the_plan(self.share.of))
        self._refuse_past()
        number, of = self.share.number, self.share.of
        return ShareRecord(number=number, of=of, rows=self.rows, data=data, start_at=self.start_at)

    def _give(
        self, engine: Engine, scenario: Any, prepared: PreparedExecution, data: dict[str, str]
    ) -> None:
        whole = scenarios.given_properties(engine.config, scenario)
        plan = scenarios.script_of(scenario)
        part = part_of(plan, whole, prepared.forecast, self.share, self.rows)
        folder = Path(engine.artifacts_dir).absolute() / DATA
        for feed, text in part.rows:
            part.own[feed.named_by] = str(share_rows.write_rows(feed, text, folder))
            data[feed.named_by] = digest(feed.file)
        prepared.forecast = part.forecast
        prepared.undivided_properties = part.undivided
        scenario.merge({"properties": part.own})

    def _refuse_past(self) -> None:
        if self.start_at is not None and self.start_at <= time.time():
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


def shared_rows(config: Mapping[str, Any], rows: str) -> str:
    """How engines share data files: rows; empty for a plan of the user's own, all of which each
    engine runs."""
    return "" if scenarios.kind_of(config) == "plan" else rows


def times_the_plan(engines: int) -> str:
    """What the verdict says where so many engines run all of a plan."""
    as_it_is = f"the plan runs as it is on each of {engines} engines"
    return f"{as_it_is}: the load is {engines} times the plan's"


def refuse_undivided(config: Mapping[str, Any], why: str) -> None:
    """why: what says that there are several engines. Raises TaurusConfigError."""
    kind = scenarios.kind_of(config)
    # These compare, or find out by themselves how much to send.
    if kind in scenarios.KINDS_WITH_OWN_LOAD:
        raise TaurusConfigError(f"load: {why}, and no engines share a {kind}: leave it out")


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
