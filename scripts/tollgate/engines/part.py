"""One engine's part of the load of an execution: its properties, its rows, its forecast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tollgate.forecast.load import shared_forecast
from tollgate.forecast.model import Followed
from tollgate.plan.data_files import Feed
from tollgate.plan.jmx import read_tree
from tollgate.plan.read import read_plan
from tollgate.schedule.share import Share, ShareError
from tollgate.schedule.share_load import shared_properties
from tollgate.schedule.share_rows import SPLIT, read_feeds, read_rows


@dataclass(frozen=True)
class EnginePart:
    """One engine's part of the load of an execution."""

    whole: dict[str, str] = field(default_factory=dict)
    """The properties of the whole."""
    own: dict[str, str] = field(default_factory=dict)
    """Those of this engine in their place."""
    rows: Sequence[tuple[Feed, str]] = ()
    """The text of its own data files."""
    shared: Sequence[Feed] = ()
    """The data files that all engines read as they are, for no property names them."""
    forecast: Followed | None = None
    """What of it follows a forecast; None where nothing does."""

    @property
    def undivided(self) -> dict[str, str | None]:
        """The properties of the whole in place of the engine's own; None where it has none."""
        return {name: self.whole.get(name) for name in self.own}


def part_of(
    plan: Path, whole: dict[str, str], forecast: Followed | None, share: Share, how: str
) -> EnginePart:
    """whole: the properties. how: rows are shared. Raises ShareError, PlanError."""
    feeds = read_feeds(plan, whole)
    shared = [feed for feed in feeds if not feed.named_by]
    if shared and how == SPLIT:
        raise ShareError(
            f"{shared[0].title} names its file without a property, so that all engines would "
            f"send its rows: write ${{__P(NAME,{shared[0].path.name})}} as its file name"
        )
    return EnginePart(
        whole,
        own=shared_properties(read_plan(plan, whole), read_tree(plan, whole), whole, share),
        rows=[(feed, read_rows(feed, share, how)) for feed in feeds if feed.named_by],
        shared=shared,
        forecast=forecast and replace(forecast, steps=shared_forecast(forecast.steps, share)),
    )
