"""A verdict for programs and people: JSON, JUnit, Markdown, console.

In: a Verdict, a Study or a Comparison. Out: its files, and JMeter's dashboards.
"""

from __future__ import annotations

from tollgate.outputs import dashboard, study, write
from tollgate.outputs import junit as render
from tollgate.outputs.json_forecast import forecast_line, steps_table
from tollgate.outputs.text import interval, limit, observed, shorten

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
