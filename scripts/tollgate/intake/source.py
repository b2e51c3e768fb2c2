"""A file or a URL that describes a service, and what kind of description it is."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

from tollgate.base.urls import Url, shown
from tollgate.intake.draft import IntakeError

#: Seconds for a URL's answer.
_PATIENCE_S = 20
#: Bytes: a recording of an hour fits, a heap dump does not.
_LARGEST = 200 * 1024 * 1024
OPENAPI, HAR, JMX = "openapi", "har", "jmx"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Leaves dates as they are written: JSON has none."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regex) for tag, regex in rules if not tag.endswith(":timestamp")]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True)
class Source:
    """name: as it was given, for messages. uri: to resolve what it refers to. text: all of it."""

    name: str
    uri: str
    text: str

    @property
    def is_remote(self) -> bool:
        """Whether it was read from a server."""
        return urlsplit(self.uri).scheme in ("http", "https")

    @property
    def is_local(self) -> bool:
        """Whether that server is on this machine."""
        host = urlsplit(self.uri).hostname or ""
        return self.is_remote and Url("http", host, 80).is_loopback

    def parsed(self) -> Any:
        """Its JSON or YAML. Raises IntakeError."""
        return parsed(self.name, self.text)

    @property
    def kind(self) -> str:
        """OPENAPI, HAR or JMX. Raises IntakeError."""
        if self.text.lstrip()[:1] == "<" and "<jmeterTestPlan" in self.text:
            return JMX
        found = self.parsed()
        if isinstance(found, dict):
            if isinstance(found.get("log"), dict) and "entries" in found["log"]:
                return HAR
            if "openapi" in found or "swagger" in found:
                return OPENAPI
        raise IntakeError(
            f"{self.name} is no OpenAPI or Swagger document, no HAR and no JMeter plan: name a "
            "file that has `openapi`, `swagger`, `log.entries` or <jmeterTestPlan>"
        )


def load(given: str) -> Source:
    """The source that a path or a URL names. Raises IntakeError."""
    if urlsplit(given).scheme in ("http", "https"):
        return Source(shown(given), given, fetched(given))
    path = Path(given)
    try:
        if path.stat().st_size > _LARGEST:
            raise IntakeError(f"{given} is larger than {_LARGEST >> 20} MB: name a smaller file")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise IntakeError(f"{given} can't be read: {problem.strerror}: name a file") from None
    except UnicodeDecodeError:
        raise IntakeError(f"{given} is no text in UTF-8: name another file") from None
    return Source(given, path.absolute().as_uri(), text)


def path_of(uri: str) -> str:
    """The path of a file's URI."""
    return unquote(urlsplit(uri).path)


def fetched(url: str) -> str:
    """What a server answers. Raises IntakeError."""
    # Its protocol is http or https.
    request = urllib.request.Request(url, headers={"Accept": "application/json, */*"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE_S) as answer:  # noqa: S310
            return answer.read(_LARGEST).decode("utf-8-sig")
    except urllib.error.HTTPError as problem:
        problem.close()
        why = f"it answers {problem.code}"
    except UnicodeDecodeError:
        why = "it answers no text in UTF-8"
    except (OSError, ValueError) as problem:
        why = " ".join(str(getattr(problem, "reason", problem)).split())
    raise IntakeError(f"{shown(url)} can't be read: {why}: correct the URL, or name a file")


def parsed(name: str, text: str) -> Any:
    """JSON or YAML. name: for messages. Raises IntakeError."""
    try:
        return json.loads(text) if text.lstrip()[:1] in "{[" else yaml.load(text, _Loader)  # noqa: S506
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        why = getattr(problem, "problem", None) or "can't be read"
    except ValueError as problem:
        where, why = "", str(problem)
    except RecursionError:
        where, why = "", "it is nested too deeply"
    raise IntakeError(f"{name}{where} is neither JSON nor YAML ({why}): correct it")
