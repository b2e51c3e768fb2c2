"""A result for programs and people: JSON, JUnit, Markdown, console.

In: a Verdict or a Study. Out: its files with their JSON Schemas, and JMeter's dashboards.
"""

from __future__ import annotations

from tollgate.outputs import dashboard, study, write
from tollgate.outputs.console import steps_table
from tollgate.outputs.text import (
    course,
    decided,
    fail_bound,
    forecast_line,
    interval,
    limit,
    observed,
    shorten,
    unadjusted,
)

__all__ = [
    "course",
    "dashboard",
    "decided",
    "fail_bound",
    "forecast_line",
    "interval",
    "limit",
    "observed",
    "shorten",
    "steps_table",
    "study",
    "unadjusted",
    "write",
]
