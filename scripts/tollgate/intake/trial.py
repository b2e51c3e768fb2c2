"""Asks a service that answers already for what a draft has, once and one after the other: values
that were guessed may be none that it knows."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from tollgate.base import json_schema
from tollgate.base.text import one_line
from tollgate.intake.draft import Draft, IntakeError

#: Seconds that an answer may take, as in the plans of services.
_TIMEOUT_S = 5
_READING = ("GET", "HEAD")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
#: What stands for a secret.
_SECRET = re.compile(r"\$\{__P\((\w+)\)\}")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for the answer that it is."""

    def redirect_request(self, *_: object) -> None:
        """Follow none."""


def tried(draft: Draft, url: str, environment: Mapping[str, str]) -> Draft:
    """The draft without the labels that the service at a URL answers otherwise than they say, with
    remarks on them. Only methods that read are asked, with the first, a middle and the last row of
    data. environment: what holds secrets; without one a request is kept as it is. Raises
    IntakeError where nothing answers, or nothing is left."""
    kept, remarks, wrong = [], [*draft.remarks], set()
    for request in draft.requests:
        if problem := _problem(draft, request, url, environment):
            wrong.add(request["label"])
            remarks.append(f"left out {request['label']!r}: {problem}")
        else:
            kept.append(request)
    if not kept:
        raise IntakeError(
            f"{url} answers none of the {len(draft.requests)} requests rightly, such as "
            f"{remarks[-1].removeprefix('left out ')}: start the service there, or name another "
            "URL by --url"
        )
    texts = "\n".join(map(str, (*kept, draft.settings, *draft.files.values())))
    used = {name: it for name, it in draft.data.items() if f"${{{name}}}" in texts}
    secrets = {name: it for name, it in draft.secrets.items() if f"${{__P({name})" in texts}
    probes = [it for it in draft.probes if it.get("schema") not in wrong]
    for it in [it for it in probes if "schema" in it]:
        _, body = _asked(_opener(False), "GET", url + it["path"], {})
        if problem := json_schema.mismatch(draft.answers[it["schema"]], body):
            probes.remove(it)
            remarks.append(f"{it['schema']!r} answers otherwise than its schema says: {problem}")
    answers = {it["schema"]: draft.answers[it["schema"]] for it in probes if "schema" in it}
    changed = {"data": used, "secrets": secrets, "probes": tuple(probes), "answers": answers}
    return replace(draft, requests=tuple(kept), remarks=tuple(remarks), **changed)


def _problem(
    draft: Draft, request: Mapping[str, Any], url: str, environment: Mapping[str, str]
) -> str:
    """What is wrong with the answers to a request; empty for nothing, or if it can't be asked."""
    method, is_whole = request.get("method", "GET"), "url" in request and "body" not in request
    secrets = {it: environment.get(it, "") for it in _SECRET.findall(str(request))}
    # What every request sends, such as cookies, is not sent here.
    is_whole = is_whole and not _SECRET.search(str(draft.settings))
    if not is_whole or method not in _READING or not all(secrets.values()):
        return ""
    asks = _opener(request.get("follow-redirects", True))
    rows = max(map(len, draft.data.values()), default=1)
    for row in dict.fromkeys((0, rows // 2, rows - 1)):
        values = {name: it[row] for name, it in draft.data.items()} | secrets
        path = _filled(request["url"], values)
        given = request.get("headers", {}).items()
        headers = {name: _filled(str(it), values) for name, it in given}
        status, body = _asked(asks, method, url + path, headers)
        if why := _wrong(request, status, body):
            return f"{method} {_shown(request, draft, row)} {why}"
    return ""


def _shown(request: Mapping[str, Any], draft: Draft, row: int) -> str:
    """Its path with data, and with the names of secrets."""
    return _filled(request["url"], {name: it[row] for name, it in draft.data.items()})


def _filled(text: str, values: Mapping[str, str]) -> str:
    """With values in the place of variables, of those that are known."""
    text = _SECRET.sub(lambda it: quote(values[it[1]], safe="") if it[1] in values else it[0], text)
    return _VARIABLE.sub(lambda it: values.get(it[1], ""), text)


def _wrong(request: Mapping[str, Any], status: int, body: str) -> str:
    if not status:
        return f"gives no answer ({body})"
    for check in request.get("assert", ()):
        subject = str(status) if check.get("subject") == "http-code" else body
        missing = [it for it in check["contains"] if it not in subject]
        if missing:
            is_code = subject != body
            return f"answers {status}" + ("" if is_code else f" without {missing[0]}")
    return f"answers {status}" if status >= 400 else ""


def _opener(follows: bool) -> urllib.request.OpenerDirector:
    """Asks as JMeter does: by no proxy."""
    more = [] if follows else [_NoRedirects]
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), *more)


def _asked(
    opener: urllib.request.OpenerDirector, method: str, url: str, headers: Mapping[str, str]
) -> tuple[int, str]:
    """(status, body); status 0 with the reason where there is no answer in time."""
    began = time.monotonic()
    try:
        # Its protocol is http or https, as base/urls.py reads it.
        request = urllib.request.Request(url, headers=dict(headers), method=method)  # noqa: S310
        with opener.open(request, timeout=_TIMEOUT_S) as answer:
            status, body = answer.status, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(errors="replace")
    except Exception as error:  # whatever a service does in place of answering
        return 0, one_line(str(getattr(error, "reason", error)) or type(error).__name__)
    took_s = time.monotonic() - began
    return (status, body) if took_s <= _TIMEOUT_S else (0, f"within {_TIMEOUT_S} s")
