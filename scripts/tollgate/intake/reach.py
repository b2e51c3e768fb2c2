"""What a document reaches: files below its folder, or answers of its own origin alone."""

from __future__ import annotations

import http.client
import os
import signal
import stat
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from tollgate.base.answers import body_of
from tollgate.base.text import one_line
from tollgate.base.time_limit import within
from tollgate.base.urls import origin_of, shown
from tollgate.intake.draft import IntakeError

#: Seconds for a URL's whole answer.
_PATIENCE_S = 20
#: Bytes of a file or an answer: a recording of an hour fits, a heap dump does not.
LARGEST = 200 * 1024 * 1024


class SameOrigin(urllib.request.HTTPRedirectHandler):
    """Follows redirects to the origin that was asked. Others fail with a URLError."""

    def http_error_302(self, req: Any, fp: Any, code: int, msg: str, headers: Any) -> Any:
        """Follow one that has a Location: without one urllib would take the header URI for it."""
        if "location" not in headers:
            return None
        leads_to = urljoin(req.full_url, headers["location"])
        if origin_of(leads_to) != origin_of(req.full_url):
            fp.close()
            raise urllib.error.URLError(f"it leads to {shown(leads_to)}, which is another origin")
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def path_of(uri: str) -> str:
    """The path of a file's URI."""
    return unquote(urlsplit(uri).path)


def text_of(path: str) -> str:
    """A regular file. Raises IntakeError."""
    try:
        # A FIFO without a writer would wait for one.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise IntakeError(f"{path} is no regular file: name one")
            data = file.read(LARGEST + 1)
    except OSError as problem:
        raise IntakeError(f"{path} can't be read: {problem.strerror}: name a file") from None
    return _decoded(path, data)


def fetched(url: str) -> str:
    """What a server answers. Raises IntakeError."""
    # Its protocol is http or https.
    request = urllib.request.Request(url, headers={"Accept": "application/json, */*"})  # noqa: S310
    opener = urllib.request.build_opener(SameOrigin)
    try:
        with (
            within(_PATIENCE_S, signal.ITIMER_REAL),
            opener.open(request, timeout=_PATIENCE_S) as answer,
        ):
            data = body_of(answer, LARGEST + 1)
    except urllib.error.HTTPError as problem:
        problem.close()
        why = f"it answers {problem.code}"
    except (OSError, ValueError, http.client.HTTPException) as problem:
        why = one_line(str(getattr(problem, "reason", problem)))
    else:
        return _decoded(shown(url), data)
    raise IntakeError(f"{shown(url)} can't be read: {why}: correct the URL, or name a file")


def _decoded(name: str, data: bytes) -> str:
    if len(data) > LARGEST:
        raise IntakeError(f"{name} is larger than {LARGEST >> 20} MB: name a smaller file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise IntakeError(f"{name} is no text in UTF-8: name another file") from None


def text_beside(named: str, at: str, uri: str) -> str:
    """What a document refers to. named, at: the document as it was named, and its own URI. uri: of
    the other one. Raises IntakeError for what it must not reach, which is not asked."""
    if origin := origin_of(at):
        if origin_of(uri) != origin:
            raise IntakeError(
                f"it refers to {shown(uri)}, and a document of {origin} is read with others of "
                "that origin alone: save both in one folder, and name the file"
            )
        return fetched(uri)
    folder = Path(path_of(at)).parent.resolve()
    if urlsplit(uri).scheme != "file":
        raise IntakeError(
            f"it refers to {shown(uri)}, and a file is read with files beside it alone: save that "
            f"in {folder}, and refer to the file"
        )
    path = Path(path_of(uri)).resolve()
    if not path.is_relative_to(folder):
        raise IntakeError(
            f"it refers to {path}, which is not below {folder}, the folder of {named}: "
            "copy it there, or make one document of both"
        )
    return text_of(str(path))
