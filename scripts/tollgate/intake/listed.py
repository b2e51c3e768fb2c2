"""Ids of things that a service itself lists, in place of those that were guessed. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import cycle, islice
from typing import Any
from urllib.parse import quote

from tollgate.base.text import unique
from tollgate.intake.draft import GUESSED, Draft

#: A path that ends, or goes on, behind the id of a thing that stands in a list.
_ITEM = re.compile(r"([^$?]+)/\$\{(\w+)\}")
#: What ends a segment of a path.
_END = r"(?=[/?.]|$)"


def guessed_items(draft: Draft) -> Iterator[tuple[Mapping[str, Any], str, Mapping[str, Any]]]:
    """(a request for a thing whose id is guessed, its column, the request that lists such things),
    where there is one."""
    lists = {
        request["url"].partition("?")[0].rstrip("/"): request
        for request in draft.requests
        if "url" in request and "method" not in request
    }
    for request in draft.requests:
        item = _ITEM.match(request.get("url", ""))
        if item and item[1] in lists and item[2] in request.get(GUESSED, "").split(", "):
            yield request, item[2], lists[item[1]]


def ids_in(body: str, column: str) -> list[str]:
    """Of the things that an answer lists, as a path has them: by the key that the column is called
    after, such as `uuid` for `book_uuid`, else by `id`."""
    with suppress(ValueError):
        listed = json.loads(body)
        lists = [listed, *(listed.values() if isinstance(listed, dict) else ())]
        things = next((it for it in lists if isinstance(it, list)), [])
        ids = (_id_of(it, _plain(column)) for it in things if isinstance(it, dict))
        return [quote(str(it), safe="") for it in ids if it not in (None, "")]
    return []


def _id_of(thing: Mapping[str, Any], column: str) -> Any:
    keys = {_plain(key): key for key, it in thing.items() if type(it) in (int, str)}
    named = max((it for it in keys if it and column.endswith(it)), key=len, default="id")
    return thing.get(keys.get(named, ""))


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def with_ids(draft: Draft, request: Mapping[str, Any], column: str, ids: list[str]) -> Draft:
    """With these in place of a guessed column, in each request for such a thing."""
    prefix = request["url"].partition("${")[0] + f"${{{column}}}"
    name = unique(column, lambda other: other in draft.data)
    requests = tuple(
        {**each, "url": each["url"].replace(f"${{{column}}}", f"${{{name}}}", 1)}
        | {GUESSED: ", ".join(it for it in each[GUESSED].split(", ") if it != column)}
        if re.match(re.escape(prefix) + _END, each.get("url", "")) and GUESSED in each
        else each
        for each in draft.requests
    )
    size = max(map(len, draft.data.values()))
    data = {**draft.data, name: tuple(islice(cycle(ids), size))}
    guess, listed = (request["url"].partition("${")[0] + it[0] for it in (draft.data[column], ids))
    probes = tuple(
        {**probe, "path": listed + probe["path"].removeprefix(guess)}
        if re.match(re.escape(guess) + _END, probe["path"])
        else probe
        for probe in draft.probes
    )
    return replace(draft, requests=requests, data=data, probes=probes)
