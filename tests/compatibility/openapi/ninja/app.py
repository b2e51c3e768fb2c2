"""Events on Django Ninja, in one file."""

import os
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated

import django
from django.conf import settings

settings.configure(
    SECRET_KEY=os.urandom(16).hex(), ALLOWED_HOSTS=["*"], ROOT_URLCONF="app", USE_TZ=True
)
django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import path  # noqa: E402
from ninja import Field, FilterSchema, Form, NinjaAPI, Path, Query, Schema  # noqa: E402
from ninja.errors import HttpError  # noqa: E402
from ninja.security import APIKeyHeader  # noqa: E402


class Kind(str, Enum):
    talk = "talk"
    workshop = "workshop"


class Place(Schema):
    city: str
    lat: Annotated[float, Field(ge=-90, le=90)]
    lon: Annotated[float, Field(ge=-180, le=180)]


class EventIn(Schema):
    title: Annotated[str, Field(min_length=3, max_length=100)]
    slug: Annotated[str, Field(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$")]
    kind: Kind
    starts: datetime
    place: Place | None = None
    fee: Annotated[Decimal, Field(ge=0, decimal_places=2)] = Decimal(0)
    tags: list[str] = []


class EventOut(EventIn):
    id: int


class EventFilter(FilterSchema):
    kind: Kind | None = None
    before: date | None = None
    tags: list[str] | None = None


class Key(APIKeyHeader):
    param_name = "X-API-Key"

    def authenticate(self, request, key):
        return key or None


api = NinjaAPI(title="Events", version="1")
EVENTS = {
    n: EventOut(
        id=n, title="Some event", slug="some-event", kind=Kind.talk, starts=datetime(2026, 3, n)
    )
    for n in range(1, 7)
}


def found(event_id):
    if event_id not in EVENTS:
        raise HttpError(404, "no such event")
    return EVENTS[event_id]


@api.get("/events", response=list[EventOut])
def list_events(request, filters: Query[EventFilter], limit: int = 10, offset: int = 0):
    fitting = [it for it in EVENTS.values() if filters.kind in (None, it.kind)]
    return fitting[offset : offset + limit]


@api.get("/events/{event_id}", response=EventOut)
def event(request, event_id: int):
    return found(event_id)


@api.get("/events/{int:event_id}/guests/{seat}")
def guest(request, event_id: int, seat: Annotated[str, Path(pattern=r"^[A-H]\d{1,2}$")]):
    return {"event": found(event_id).id, "seat": seat}


@api.post("/events", response={201: EventOut})
def add_event(request, new: EventIn):
    number = max(EVENTS) + 1
    EVENTS[number] = EventOut(id=number, **new.dict())
    return 201, EVENTS[number]


@api.put("/events/{event_id}", response=EventOut)
def replace_event(request, event_id: int, new: EventIn):
    EVENTS[found(event_id).id] = EventOut(id=event_id, **new.dict())
    return EVENTS[event_id]


@api.delete("/events/{event_id}", response={204: None})
def delete_event(request, event_id: int):
    del EVENTS[found(event_id).id]
    return 204, None


@api.post("/subscriptions")
def subscribe(
    request, email: Annotated[str, Form(pattern=r"^\S+@\S+\.\S+$")], weekly: Form[bool] = True
):
    return {"email": email, "weekly": weekly}


@api.get("/stats/{year}/{month}", auth=Key())
def stats(request, year: Annotated[int, Path(ge=2000)], month: Annotated[int, Path(ge=1, le=12)]):
    return {"year": year, "month": month, "events": len(EVENTS)}


urlpatterns = [path("api/", api.urls)]
app = get_wsgi_application()
