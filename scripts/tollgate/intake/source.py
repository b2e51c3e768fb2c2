"""A file or a URL that describes a service, and what kind of description it is."""

from __future__ import annotations

import http.client
import json
import re
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
_TAG = "tag:yaml.org,2002:"
#: The core schema of YAML 1.2.2 (10.3.2), and the merge key, which documents of 1.1 have.
_SCALARS = {
    "null": "~|null|Null|NULL|",
    "bool": "true|True|TRUE|false|False|FALSE",
    "int": "[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+",
    "float": r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    "merge": "<<",
}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Knows the values that JSON has: `NO`, `on`, `12:30` and dates are texts, and so is each key,
    such as the 200 of an answer."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Before the keys are read."""
        super().flatten_mapping(node)
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                key.tag = f"{_TAG}str"


def _whole_number(loader: _Loader, node: yaml.ScalarNode) -> int:
    """0123 is 123: the digits of YAML 1.1 were octal."""
    text = loader.construct_scalar(node)
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


# Whatever a scalar begins with; PyYAML lists its own rules, of YAML 1.1, by the first character.
_Loader.yaml_implicit_resolvers = {
    None: [(_TAG + name, re.compile(rf"(?:{it})\Z")) for name, it in _SCALARS.items()]
}
_Loader.add_constructor(f"{_TAG}int", _whole_number)


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
    if given.lower().startswith(("http://", "https://")):
        _check(given)
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


def _check(url: str) -> None:
    """Raises IntakeError for a URL that can't be asked. One with a password is not asked either:
    messages and files would have it."""
    try:
        parts = urlsplit(url)
        can_be_asked = bool(parts.hostname) and parts.port != 0
    except ValueError:  # which may name a part of a password
        can_be_asked = False
    if not can_be_asked:
        raise IntakeError(f"{shown(url)} is no URL: correct it, or name a file")
    if "@" in parts.netloc:
        raise IntakeError(
            f"{shown(url)} is given with a user's name or password: save what it answers, and name "
            "that file"
        )


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
    except (OSError, ValueError, http.client.HTTPException) as problem:
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
