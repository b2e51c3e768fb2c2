"""A recording of the browser (HAR 1.2) as one label: a visit, page by page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from tollgate.intake import literal
from tollgate.intake.answers import given_by
from tollgate.intake.draft import SENT_TO_SERVICE, Draft, IntakeError
from tollgate.intake.har_entries import HELP, Entry, entries_of, shown_path
from tollgate.intake.har_files import HarFiles
from tollgate.intake.message import Message
from tollgate.intake.source import Source
from tollgate.intake.variables import Step, Variables, extractors, holds_secret, is_secret_itself

#: Seconds without a request that begin another part of the visit, and the longest pause written.
PAUSE_S, LONGEST_PAUSE_S = 1.0, 1.0
#: Source: JMeter 5.6.3, HTTPSamplerBase.METHODS.
_METHODS = re.compile(
    "GET|POST|HEAD|PUT|OPTIONS|TRACE|DELETE|PATCH|PROPFIND|PROPPATCH|MKCOL|COPY|MOVE|LOCK|UNLOCK"
    "|REPORT|MKCALENDAR|SEARCH"
)
#: Cookies of those who count visitors, which no service of one's own reads.
_OF_COUNTERS = re.compile(r"_ga.*|_gid|_gat.*|_fb[pc]|_hj.*|__utm.*|_pk_.*|ajs_.*|amp(litude)?_.*")
_LONGEST_URL = 20_000


def read_har(source: Source, name: str, url: str | None = None, with_static: bool = False) -> Draft:
    """What a recording says of a service.

    name: of the service, which begins the names of the variables of the environment. url: of the
    requests that are meant, if not those to the host of the first page. with_static: whether
    images, scripts and the like are asked for as well. Raises IntakeError."""
    remarks: list[str] = []
    entries = entries_of(source, remarks)
    own = _own_origin(source, entries, url)
    kept = _selected(entries, own, with_static, HarFiles(source), remarks)
    if not kept:
        raise IntakeError(f"{source.name}: has no request to {own} that a load can send: {HELP}")
    steps = [Step(Message.of(it.request), given_by(it.response)) for it in kept]
    _give_labels(steps)
    for label in (it.label for it in steps if it.message.is_rebuilt):
        remarks.append(
            f"{label} sends JSON that the recording has in fields, where a list of one item looks "
            "like the item: check it"
        )
    if silent := [step.label for entry, step in zip(kept, steps, strict=True) if entry.is_silent]:
        labels = f"{silent[0]}{f' and {len(silent) - 1} more' * (len(silent) > 1)}"
        remarks.append(f"no value is taken out of answers that the recording lacks: {labels}")
    variables = Variables(name)
    cookies = _cookies(kept, variables, remarks)
    variables.put(steps)
    if variables.secrets:
        remarks.append(f"{source.name} holds what is secret: keep it out of git")
    if _is_sanitized(entries):
        remarks.append(
            "it has no cookie: Chrome leaves them out unless it may save a HAR with sensitive data"
        )
    requests = _visit(kept, steps, name, remarks)
    return Draft.of_source(
        requests=(requests,),
        url=own,
        secrets=variables.secrets,
        remarks=(*remarks, *variables.remarks, *variables.to_set),
        settings={"cookies": cookies} if cookies else {},
    )


def _is_sanitized(entries: Sequence[Entry]) -> bool:
    """Whether Chrome may have taken cookies out: it writes the kinds of requests beside them."""
    cookies = (it.header("cookie") or it.header("set-cookie", "response") for it in entries)
    return all(it.kind for it in entries) and not any(cookies)


def _own_origin(source: Source, entries: Sequence[Entry], url: str | None) -> str:
    """Of the service: the one that is named if it was recorded, else that of the first page. One
    that only redirects, as from http: to https:, is none."""
    by_http = [it for it in entries if it.origin.startswith("http") and not it.is_websocket]
    origins = [it.origin for it in by_http]
    if not origins:
        raise IntakeError(f"{source.name}: has no request by HTTP: {HELP}")
    if url and url.rstrip("/") in origins:
        return url.rstrip("/")
    pages = [it.origin for it in by_http if it.is_page]
    answering = {it.origin for it in by_http if not it.is_redirect}
    return next((it for it in (*pages, *origins) if it in answering), origins[0])


def _selected(
    entries: Iterable[Entry], own: str, with_static: bool, files: HarFiles, remarks: list[str]
) -> list[Entry]:
    """Those that a load sends; of the others a remark says why not."""
    kept: list[Entry] = []
    others, static, left = (Counter[str]() for _ in range(3))
    for entry in entries:
        where = urlsplit(entry.request["url"])
        if entry.origin != own:
            if where.scheme in ("http", "https", "ws", "wss"):
                others[entry.host or "?"] += 1
        elif entry.is_static and not with_static:
            static[PurePosixPath(where.path).suffix.lstrip(".") or "others"] += 1
        else:
            files.fill(entry)
            if why := _unfit(entry):
                left[f"{entry.request['method']} {shown_path(where.path)}, {why}"] += 1
            else:
                kept.append(entry)
    for what, counts in (("to other hosts", others), ("of static files", static)):
        if counts:
            listed = ", ".join(f"{name} ({n})" for name, n in counts.most_common())
            remarks.append(f"left out: {sum(counts.values())} {what}: {listed}")
    remarks += [f"left out: {it}{f' ({n} times)' * (n > 1)}" for it, n in left.items()]
    return kept


def _unfit(entry: Entry) -> str:
    """Why a load can't send it, or nothing."""
    if entry.request["method"] == "OPTIONS":
        return "which the browser sends of its own accord"
    if entry.is_websocket:
        return "a WebSocket"
    if len(entry.request["url"]) > _LONGEST_URL:
        return f"whose URL has more than {_LONGEST_URL:,} characters"
    if entry.status <= 0:
        return "which was not answered"
    if entry.status >= 400:
        return f"which was answered by {entry.status}"
    if entry.kind == "eventsource" or entry.mime.startswith("text/event-stream"):
        return "a stream of events, which need not end"
    return _unwritable(Message.of(entry.request))


def _unwritable(message: Message) -> str:
    """Why taurus.yml can't have it, or nothing."""
    if message.lost:
        return message.lost
    if len(message.segments) > 1 and not message.segments[0]:
        return "whose path begins with //, behind which Taurus reads a host"
    has_cdata = message.kind == "xml" and "<![CDATA[" in message.body
    if has_cdata or (message.kind == "text" and holds_secret(message.body)):
        return "whose text holds what may be a secret"
    if any(map(is_secret_itself, message.names)):
        return "with a name that may be a secret"
    if not _METHODS.fullmatch(message.method):
        return "a method that JMeter does not send"
    if names := [it for it in message.headers if not literal.NAME.fullmatch(it)]:
        return f"with a header that can't be called {names[0]!r}"
    return ""


def _give_labels(steps: Iterable[Step]) -> None:
    taken: Counter[str] = Counter()
    for step in steps:
        label = "-".join(step.message.words)[:50] or "home"
        taken[label] += 1
        step.label = label if taken[label] == 1 else f"{label}-{taken[label]}"


def _cookies(
    entries: Iterable[Entry], variables: Variables, remarks: list[str]
) -> list[dict[str, str]]:
    """Cookies that the browser had before the recording, each in a variable of the environment. All
    others come from the service's answers."""
    had: dict[str, str] = {}
    of_answers: set[str] = set()
    for entry in entries:
        for pair in ";".join(entry.header("cookie")).split(";"):
            name, _, value = pair.strip().partition("=")
            if name and name not in of_answers:
                had.setdefault(name, value)
        lines = "\n".join(entry.header("set-cookie", "response")).split("\n")
        of_answers.update(line.partition("=")[0].strip() for line in lines)
    counters = [it for it in had if _OF_COUNTERS.fullmatch(it)]
    if counters:
        remarks.append(f"left out: the cookies {', '.join(counters)} of those who count visitors")
    cookies = []
    for name, value in had.items():
        if name not in counters:
            own = variables.secret(f"cookie_{name}", value, f"the cookie {name}")
            cookies.append({"name": name, "value": own, **SENT_TO_SERVICE})
    return cookies


def _visit(
    entries: Sequence[Entry], steps: Sequence[Step], name: str, remarks: list[str]
) -> dict[str, Any]:
    """One arrival: the pages in their order, each a transaction, with pauses between them."""
    if len(steps) == 1:
        return _request(entries[0], steps[0])
    parts: list[list[tuple[Entry, Step]]] = []
    do: list[dict[str, Any]] = []
    pauses: dict[int, float] = {}
    until_s: float | None = None
    for entry, step in zip(entries, steps, strict=True):
        gap_s = 0.0 if until_s is None else entry.began_s - until_s
        if not parts or _begins_page(parts[-1][-1][0], entry) or gap_s >= PAUSE_S:
            if gap_s > 0.05:
                pauses[len(parts)] = gap_s
            parts.append([])
        parts[-1].append((entry, step))
        ended_s = entry.ended_s
        until_s = None if ended_s is None else max(ended_s, until_s or ended_s)
    if any(it.ended_s is None for it in entries):
        remarks.append("no pause is known behind an answer of which it has the download alone")
    for place, part in enumerate(parts):
        if place in pauses:
            ms = round(1000 * min(pauses[place], LONGEST_PAUSE_S))
            do.append({"action": "pause", "pause-duration": f"{ms}ms"})
        requests = [_request(entry, step) for entry, step in part]
        page = {"transaction": f"page-{place + 1}-{requests[0]['label']}", "do": requests}
        do += [page] if len(parts) > 1 else requests
    if longest := [it for it in pauses.values() if it >= LONGEST_PAUSE_S + 0.5]:
        remarks.append(f"pauses of up to {max(longest):.0f} s are written as {LONGEST_PAUSE_S:g} s")
    return {"transaction": f"visit-{name}", "do": do}


def _begins_page(before: Entry, entry: Entry) -> bool:
    return before.page != entry.page or (entry.is_page and not before.is_redirect)


def _request(entry: Entry, step: Step) -> dict[str, Any]:
    request = {"label": step.label, **step.message.request(), **extractors(step)}
    if entry.is_redirect:
        # What it leads to is a request of its own in the recording.
        request["follow-redirects"] = False
    if entry.status != 304:
        request["assert"] = [{"subject": "http-code", "contains": str(entry.status)}]
    return request
