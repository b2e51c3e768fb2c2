"""A shop on FastAPI."""

from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from itertools import count
from typing import Annotated, Literal

from fastapi import Depends, FastAPI, Header, HTTPException, Path, Query, Response
from fastapi.security import HTTPBearer
from pydantic import BaseModel, Field


class Size(str, Enum):
    small = "S"
    medium = "M"
    large = "L"


class Card(BaseModel):
    kind: Literal["card"]
    number: str = Field(pattern=r"^\d{4}( \d{4}){3}$")
    expires: str = Field(pattern=r"^(0[1-9]|1[0-2])/\d{2}$")


class Transfer(BaseModel):
    kind: Literal["transfer"]
    iban: str = Field(pattern=r"^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$")


class Line(BaseModel):
    sku: str = Field(pattern=r"^[A-Z]{3}-\d{4}$")
    quantity: int = Field(gt=0, le=100)
    price: Decimal = Field(gt=0, max_digits=8, decimal_places=2)
    size: Size | None = None


class NewOrder(BaseModel):
    lines: list[Line] = Field(min_length=1)
    payment: Annotated[Card | Transfer, Field(discriminator="kind")]
    deliver_on: date | None = None
    note: str | None = Field(default=None, max_length=200)


class Order(NewOrder):
    id: int
    placed_at: datetime
    status: Literal["open", "paid", "sent"] = "open"


class Change(BaseModel):
    status: Literal["open", "paid", "sent"] | None = None
    deliver_on: date | None = None


class Filters(BaseModel):
    status: list[Literal["open", "paid", "sent"]] = []
    min_total: Decimal | None = Field(default=None, ge=0)
    page: int = Field(default=1, ge=1)
    size: int = Field(default=20, ge=1, le=100)


app = FastAPI(title="Shop", version="1")
ids = count(1)
orders: dict[int, Order] = {}
Id = Annotated[int, Path(ge=1)]


def place(new: NewOrder) -> Order:
    order = Order(id=next(ids), placed_at=datetime.now(UTC), **new.model_dump())
    orders[order.id] = order
    return order


for _ in range(5):
    line = Line(sku="ABC-1234", quantity=1, price=Decimal("9.95"))
    transfer = Transfer(kind="transfer", iban="DE02120300000000202051")
    place(NewOrder(lines=[line], payment=transfer))


def found(order_id: Id) -> Order:
    if order_id not in orders:
        raise HTTPException(404, "no such order")
    return orders[order_id]


Found = Annotated[Order, Depends(found)]


@app.get("/orders", response_model=list[Order])
def list_orders(filters: Annotated[Filters, Query()]):
    fitting = [it for it in orders.values() if it.status in (filters.status or [it.status])]
    return fitting[(filters.page - 1) * filters.size :][: filters.size]


@app.get("/orders/since/{day}", response_model=list[Order])
def orders_since(day: date, tz: Annotated[str, Query(pattern=r"^[+-]\d{2}:\d{2}$")]):
    return [it for it in orders.values() if it.placed_at.date() >= day]


@app.post("/orders", status_code=201, response_model=Order)
def create_order(new: NewOrder):
    return place(new)


@app.get("/orders/{order_id}", response_model=Order)
def read_order(order: Found):
    return order


@app.put("/orders/{order_id}", response_model=Order)
def replace_order(order: Found, new: NewOrder):
    orders[order.id] = order.model_copy(update=new.model_dump())
    return orders[order.id]


@app.patch("/orders/{order_id}", response_model=Order)
def change_order(order: Found, change: Change):
    orders[order.id] = order.model_copy(update=change.model_dump(exclude_unset=True))
    return orders[order.id]


@app.delete("/orders/{order_id}", status_code=204, response_class=Response)
def delete_order(order: Found):
    del orders[order.id]


@app.get("/sizes/{size}")
def size(size: Size, x_request_id: Annotated[str | None, Header()] = None) -> dict[str, str]:
    return {"size": size, "request": x_request_id or ""}


@app.get("/me", dependencies=[Depends(HTTPBearer())])
def me() -> dict[str, str]:
    return {"name": "somebody"}


@app.post("/quotes")
def quote(
    amounts: dict[str, Decimal], rate: Annotated[float, Query(gt=0, lt=1)]
) -> dict[str, Decimal]:
    return {name: amount * Decimal(str(rate)) for name, amount in amounts.items()}
