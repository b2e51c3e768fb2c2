"""Asks a service that answers already for what a draft has, once and one after the other: values
that were guessed may be none that it knows."""

from __future__ import annotations

import json
import re
import signal
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any
from urllib.parse import quote, urlencode

from tollgate.base import json_schema
from tollgate.base.answers import NoRedirects, body_of
from tollgate.base.text import one_line
from tollgate.base.time_limit import within
from tollgate.intake import listed
from tollgate.intake.draft import Draft, IntakeError
from tollgate.intake.reach import SameOrigin
from tollgate.plan.expressions import evaluates
from tollgate.record.redaction import AS_JSON
from tollgate.service.elements import sends_json

#: Seconds that an answer may take, as in the plans of services.
_TIMEOUT_S = 5
_READING = ("GET", "HEAD")
#: Bytes of an answer that are looked at.
_LONGEST = 64 * 1024 * 1024
#: Requests after which a service that has answered none of them is not there.
_MOST_SILENT = 3
#: Statuses by which services refuse the values of a row, and may take those of another one.
_OF_VALUES = (400, 404, 410, 422)
#: What refers to a secret, and how; in a URL it is encoded.
_USED = re.compile(rf"\$\{{__P\((\w+?)(?:{AS_JSON})?\)\}}")
_SECRET = re.compile(r"(\$\{__urlencode\()?\$\{__P\((\w+)\)\}(?(1)\)\})")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_PART = re.compile(rf"{_SECRET.pattern}|\$\{{(\w+)\}}|\$\{{__char\((\d+)\)\}}|\\(\\)")


def tried(draft: Draft, url: str, environment: Mapping[str, str], may_write: bool = False) -> Draft:
    """The draft without the labels that the service at a URL answers otherwise than they say, and
    without the rows of data that it refuses, with remarks on them. Methods that read are asked with
    the first, a middle and the last row, or with all where one is refused. may_write: whether the
    others are asked as well, until they are taken once; what is refused is kept, for the user named
    it. environment: what holds secrets; without one a request is kept as it is. Raises IntakeError
    where nothing answers, or nothing is left."""
    draft, listed = _with_listed_ids(draft, url, environment)
    trial = _Trial(draft, url, environment)
    kept = []
    for request in draft.requests:
        kept += [request] if trial.is_right(request) else []
        if trial.is_silent and trial.sent >= _MOST_SILENT:
            break
    if not kept or trial.is_silent:
        raise IntakeError(
            f"{url} answers none of the {trial.sent} requests rightly, such as "
            f"{trial.remarks[-1].removeprefix('left out ')}: start the service, or correct the URL"
        )
    if may_write:
        trial.write()
    texts = "\n".join(map(str, (*kept, draft.settings, *draft.files.values())))
    columns = {name: it for name, it in draft.data.items() if f"${{{name}}}" in texts}
    used = {*_USED.findall(texts)}
    labels = {it.get("label") for it in kept}
    probes = [it for it in draft.probes if it["schema"] in labels and trial.matches(it)]
    return replace(
        draft,
        requests=tuple(kept),
        data=trial.kept_of(columns),
        secrets={name: it for name, it in draft.secrets.items() if name in used},
        probes=tuple(probes),
        answers={it["schema"]: draft.answers[it["schema"]] for it in probes},
        remarks=(*draft.remarks, *listed, *trial.remarks),
    )


def _with_listed_ids(
    draft: Draft, url: str, environment: Mapping[str, str]
) -> tuple[Draft, list[str]]:
    """(the draft with ids that the service lists, where it takes none of those that are guessed,
    remarks)."""
    remarks: dict[str, str] = {}
    items = sorted(listed.guessed_items(draft), key=lambda item: not _reads(item[0]))
    for request, column, lister in items:
        prefix = request["url"].partition("$")[0]
        if prefix in remarks:
            continue
        trial = _Trial(draft, url, environment)
        answers = (trial.asked(request, row) for row in range(len(draft.data[column])))
        if _reads(request) and any(answer.status not in _OF_VALUES for answer in answers):
            remarks[prefix] = ""
        elif ids := listed.ids_in(trial.asked(lister, 0).body, column):
            draft = listed.with_ids(draft, request, column, ids)
            remarks[prefix] = f"the ids behind {prefix} are those that {lister['label']!r} lists"
    return draft, [*filter(None, remarks.values())]


def _reads(request: Mapping[str, Any]) -> bool:
    return request.get("method", "GET") in _READING


@dataclass(frozen=True)
class _Answer:
    status: int = 0
    body: str = ""
    problem: str = ""
    """What is wrong with it; empty where nothing is, or where it can't be asked for."""


@dataclass
class _Rows:
    """The rows of columns that requests share, by themselves or through others."""

    columns: set[str]
    numbers: list[int]
    """Of those that every label takes that was asked."""


class _Trial:
    """sent: how many requests were."""

    def __init__(self, draft: Draft, url: str, environment: Mapping[str, str]) -> None:
        self._draft, self._url, self._environment = draft, url, environment
        self._rows = {name: _Rows({name}, [*range(len(it))]) for name, it in draft.data.items()}
        for request in draft.requests:
            shared = [self._rows[name] for name in self._columns_of(request)]
            columns = {name for rows in shared for name in rows.columns}
            self._rows |= dict.fromkeys(
                columns, _Rows(columns, shared[0].numbers if shared else [])
            )
        self.remarks: list[str] = []
        self.sent = self._answered = 0

    @property
    def is_silent(self) -> bool:
        """Whether requests were sent, and none of them was answered."""
        return self.sent > 0 and not self._answered

    def _columns_of(self, request: Mapping[str, Any]) -> list[str]:
        return [it for it in _VARIABLE.findall(str(request)) if it in self._draft.data]

    def kept_of(self, columns: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """Columns with the rows that are kept, repeated until all are as long as the longest."""
        numbers = {name: self._rows[name].numbers for name in columns}
        size = max(map(len, numbers.values()), default=0)
        return {
            name: tuple(column[number] for number in islice(cycle(numbers[name]), size))
            for name, column in columns.items()
        }

    def is_right(self, request: Mapping[str, Any]) -> bool:
        """Whether the service answers as a request says, or it can't be asked."""
        if not _reads(request) or "body" in request:
            return True
        rows = self._rows_of(request)
        numbers = rows.numbers
        for row in dict.fromkeys((numbers[0], numbers[len(numbers) // 2], numbers[-1])):
            answer = self.asked(request, row)
            if not answer.problem:
                continue
            others = numbers if rows.columns and answer.status in _OF_VALUES else ()
            taken = [it for it in others if not self.asked(request, it).problem]
            if not taken:
                self.remarks.append(f"left out {request['label']!r}: {answer.problem}")
                return False
            rows.numbers = taken
            shown = f"{len(taken)} of {len(numbers)} rows of data are kept"
            self.remarks.append(f"{shown} for {request['label']!r}: {answer.problem}")
            return True
        return True

    def _rows_of(self, request: Mapping[str, Any]) -> _Rows:
        columns = self._columns_of(request)
        return self._rows[columns[0]] if columns else _Rows(set(), [0])

    def write(self) -> None:
        """Ask for what writes, what removes last: once, or until a row is taken. Refused ones have
        written nothing."""
        writing = [it for it in self._draft.requests if not _reads(it)]
        writing.sort(key=lambda request: request["method"] == "DELETE")
        for request in writing:
            # The first rows are what others, and the first second of a run, ask for.
            for row in reversed(self._rows_of(request).numbers):
                answer = self.asked(request, row)
                if not answer.problem or answer.status not in _OF_VALUES:
                    break
            if answer.problem:
                self.remarks.append(f"correct {request['label']!r}: {answer.problem}")

    def asked(self, request: Mapping[str, Any], row: int) -> _Answer:
        """What the service answers to a row of data."""
        secrets = {it: self._environment.get(it, "") for _, it in _SECRET.findall(str(request))}
        # What every request sends, such as cookies, is not sent here.
        is_whole = "url" in request and not _SECRET.search(str(self._draft.settings))
        if not is_whole or not all(secrets.values()):
            return _Answer()
        data = {name: it[row] for name, it in self._draft.data.items() if row < len(it)}
        values, method = {**data, **secrets}, request.get("method", "GET")
        texts = request.get("headers", {}).items()
        headers = {name: _filled(str(it), values) for name, it in texts}
        asks = _opener(request.get("follow-redirects", True))
        place = self._url + _filled(request["url"], values)
        sent = _sent(request, headers)
        status, body = _asked(asks, method, place, headers, sent)
        self.sent += 1
        self._answered += bool(status)
        why = _wrong(request, status, body)
        problem = f"{method} {_filled(request['url'], data)} {why}" if why else ""
        return _Answer(status, body, problem)

    def matches(self, probe: Mapping[str, str]) -> bool:
        """Whether the answer to a probe is what its schema says."""
        label = probe["schema"]
        _, body = _asked(_opener(False), "GET", self._url + probe["path"], {})
        problem = json_schema.mismatch(self._draft.answers[label], body)
        if problem:
            line = f"{label!r} answers otherwise than its schema says: {problem}"
            self.remarks.append(line)
        return not problem


def _filled(text: str, values: Mapping[str, str]) -> str:
    """As JMeter sends it, with the values of variables that are known."""

    def part(match: re.Match[str]) -> str:
        encodes, secret, variable, number, backslash = match.groups()
        if secret:
            value = values.get(secret, match[0])
            return quote(value, safe="") if encodes and secret in values else value
        return values.get(variable, "") if variable else backslash or chr(int(number))

    return _PART.sub(part, text) if evaluates(text) else text


def _sent(request: Mapping[str, Any], headers: Mapping[str, str]) -> bytes | None:
    """The body of a request, as Taurus and JMeter send it."""
    body = request.get("body")
    if body is None:
        return None
    if isinstance(body, Mapping) and not sends_json(headers):
        text = urlencode({_filled(key, {}): _filled(it, {}) for key, it in body.items()})
    else:
        text = _filled(body if isinstance(body, str) else json.dumps(body), {})
    return text.encode(errors="replace")


def _wrong(request: Mapping[str, Any], status: int, body: str) -> str:
    if not status:
        return f"gives no answer ({body})"
    for check in request.get("assert", ()):
        subject = str(status) if check.get("subject") == "http-code" else body
        missing = [it for it in check["contains"] if _filled(it, {}) not in subject]
        if missing:
            return f"answers {status}" + (f" without {missing[0]}" if subject == body else "")
    return f"answers {status}" if status >= 400 else ""


def _opener(follows: bool) -> urllib.request.OpenerDirector:
    """Asks as JMeter does: by no proxy. Where a redirect leads to another host, it is not asked."""
    redirects = SameOrigin if follows else NoRedirects
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), redirects)


def _asked(
    opener: urllib.request.OpenerDirector,
    method: str,
    url: str,
    headers: Mapping[str, str],
    sent: bytes | None = None,
) -> tuple[int, str]:
    """(status, body); status 0 with the reason where there is no answer in time."""
    try:
        # Its protocol is http or https, as base/urls.py reads it.
        request = urllib.request.Request(url, sent, dict(headers), method=method)  # noqa: S310
        with within(_TIMEOUT_S, signal.ITIMER_REAL):
            try:
                answer = opener.open(request, timeout=_TIMEOUT_S)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                return answer.status, body_of(answer, _LONGEST).decode(errors="replace")
    except Exception as error:  # whatever a service does in place of answering
        return 0, one_line(str(getattr(error, "reason", error)) or type(error).__name__)
