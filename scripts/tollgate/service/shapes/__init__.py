"""Shapes of load: each makes a whole plan of a service's labelled elements."""

from __future__ import annotations

from collections.abc import Callable

from lxml import etree

from tollgate.service.elements import Parts
from tollgate.service.shapes import capacity, check, compare, forecast

#: By the shape's name. Each takes the service's parts and makes the plan.
SHAPES: dict[str, Callable[[Parts], etree._ElementTree]] = {
    "check": check.make,
    "forecast": forecast.make,
    "capacity": capacity.make,
    "compare": compare.make,
}
