"""A library on Litestar, with dataclasses and UUIDs."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated
from uuid import UUID, uuid4

from litestar import Controller, Litestar, delete, get, patch, post, put
from litestar.exceptions import NotFoundException
from litestar.params import Parameter


class Genre(Enum):
    NOVEL = "novel"
    POEMS = "poems"
    SCIENCE = "science"


@dataclass
class Author:
    name: str
    born: date | None = None


@dataclass
class NewBook:
    title: Annotated[str, Parameter(min_length=1, max_length=80)]
    isbn: Annotated[str, Parameter(pattern=r"^97[89]-\d-\d{3}-\d{5}-\d$")]
    genre: Genre
    price: Decimal
    authors: list[Author]
    reads_in: timedelta | None = None


@dataclass
class Book(NewBook):
    id: UUID = field(default_factory=uuid4)
    added_at: datetime = field(default_factory=datetime.now)


@dataclass
class Changes:
    title: str | None = None
    genre: Genre | None = None


STARTER = NewBook("A title", "978-3-123-45678-9", Genre.NOVEL, Decimal("12.50"), [Author("Anna")])
BOOKS = {it.id: it for it in (Book(**vars(STARTER)) for _ in range(4))}


def found(book_id: UUID) -> Book:
    if book_id not in BOOKS:
        raise NotFoundException("no such book")
    return BOOKS[book_id]


class Books(Controller):
    path = "/books"

    @get()
    async def list_books(
        self,
        genres: list[Genre] | None = None,
        below: Decimal | None = None,
        limit: Annotated[int, Parameter(ge=1, le=50)] = 10,
    ) -> list[Book]:
        fitting = [it for it in BOOKS.values() if not genres or it.genre in genres]
        return [it for it in fitting if below is None or it.price < below][:limit]

    @get("/{book_id:uuid}")
    async def book(self, book_id: UUID) -> Book:
        return found(book_id)

    @get("/{book_id:uuid}/authors")
    async def authors(self, book_id: UUID) -> list[Author]:
        return found(book_id).authors

    @post()
    async def add_book(self, data: NewBook) -> Book:
        book = Book(**vars(data))
        BOOKS[book.id] = book
        return book

    @put("/{book_id:uuid}")
    async def replace_book(self, book_id: UUID, data: NewBook) -> Book:
        BOOKS[book_id] = Book(**vars(data), id=found(book_id).id)
        return BOOKS[book_id]

    @patch("/{book_id:uuid}")
    async def change_book(self, book_id: UUID, data: Changes) -> Book:
        book = found(book_id)
        book.title, book.genre = data.title or book.title, data.genre or book.genre
        return book

    @delete("/{book_id:uuid}")
    async def remove_book(self, book_id: UUID) -> None:
        del BOOKS[found(book_id).id]


@get("/added/{day:date}")
async def added(day: date, within: timedelta = timedelta(days=1)) -> dict[str, int]:
    first = [it for it in BOOKS.values() if day <= it.added_at.date() <= day + within]
    return {"books": len(first)}


@get("/shelves")
async def shelf(
    code: Annotated[str, Parameter(query="code", pattern=r"^[A-F]\d{2}$")],
    tenant: Annotated[str, Parameter(header="X-Tenant", min_length=3)],
) -> dict[str, str]:
    return {"code": code, "tenant": tenant}


app = Litestar([Books, added, shelf])
