"""A verdict for programs and people: JSON, JUnit, Markdown, console.

In: a Verdict, a Study or a Comparison. Out: its files, and JMeter's dashboards.
"""

from __future__ import annotations

from tollgate.outputs import dashboard, render, study, write
from tollgate.outputs.cells import interval, limit, observed, shorten
from tollgate.outputs.forecast import forecast_line, steps_table

__all__ = [
    "dashboard",
    "forecast_line",
    "interval",
    "limit",
    "observed",
    "render",
    "shorten",
    "steps_table",
    "study",
    "write",
]
