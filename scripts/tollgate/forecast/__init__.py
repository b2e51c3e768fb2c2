"""A forecast of production.

In: a forecast's CSV file. Out: the load that follows it, and what of it was sent.
"""

from __future__ import annotations

from tollgate.forecast.facts import forecast_facts
from tollgate.forecast.load import (
    ShapeError,
    announce,
    arrival_counts,
    load_steps,
    mix_text,
    schedule_text,
    shared_forecast,
)
from tollgate.forecast.model import (
    Followed,
    Forecast,
    ForecastFacts,
    ForecastResult,
    LoadStep,
    PartResult,
    StepFacts,
    from_record,
    to_record,
)
from tollgate.forecast.read import ForecastError, read_forecast

__all__ = [
    "Followed",
    "Forecast",
    "ForecastError",
    "ForecastFacts",
    "ForecastResult",
    "LoadStep",
    "PartResult",
    "ShapeError",
    "StepFacts",
    "announce",
    "arrival_counts",
    "forecast_facts",
    "from_record",
    "load_steps",
    "mix_text",
    "read_forecast",
    "schedule_text",
    "shared_forecast",
    "to_record",
]
