"""A shop as taurus.yml describes it, and what Tollgate makes of it."""

from tollgate.plan import jmx
from tollgate.plan.read import read_plan
from tollgate.schedule.schedule import schedules_of
from tollgate.service.elements import parts_of
from tollgate.service.model import read_service
from tollgate.service.shapes import SHAPES

JSON = {"Content-Type": "application/json"}
SHOP = {
    "app": "shop",
    "rate": "20/s",
    "requests": [
        {
            **{"label": "list", "url": "/items?page=2", "weight": 6},
            "assert": [{"contains": ['"items"']}],
        },
        {
            "label": "order",
            "url": "/orders",
            "method": "POST",
            "headers": JSON,
            "body": {"item": 7},
        },
        {
            **{"transaction": "visit", "weight": 3},
            "do": [
                {
                    **{"label": "login", "url": "/login", "method": "POST"},
                    **{"headers": JSON, "body": {"visitor": "v"}},
                },
                {"action": "pause", "pause-duration": "10ms"},
                {"label": "put", "url": "/cart/3", "method": "POST"},
            ],
        },
    ],
}


def service(**changed):
    """The shop with these settings."""
    return read_service("shop", {**SHOP, **changed})


def parts(folder, **changed):
    """Its elements, for a plan in a folder."""
    return parts_of(service(**changed), folder)


def plan(folder, shape, **changed):
    """The path of its plan of a shape."""
    path = folder / f"shop-{shape}.jmx"
    jmx.write(SHAPES[shape](parts(folder, **changed)), path)
    return path


def schedules(path, **properties):
    """By label, the schedule or why there is none, as Tollgate reads the plan."""
    found, _ = schedules_of(read_plan(path, {key: str(it) for key, it in properties.items()}))
    return found
