"""A file or a URL that describes a service, and what kind of description it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tollgate.base.urls import Url, shown
from tollgate.intake.draft import IntakeError
from tollgate.intake.notation import parsed
from tollgate.intake.reach import fetched, text_of

OPENAPI, HAR, JMX = "openapi", "har", "jmx"


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

    @cached_property
    def parsed(self) -> Any:
        """Its JSON or YAML. Raises IntakeError."""
        return parsed(self.name, self.text)

    @property
    def kind(self) -> str:
        """OPENAPI, HAR or JMX. Raises IntakeError."""
        if self.text.lstrip()[:1] == "<" and "<jmeterTestPlan" in self.text:
            return JMX
        found = self.parsed
        if isinstance(found, dict):
            if isinstance(found.get("log"), dict) and "entries" in found["log"]:
                return HAR
            if "openapi" in found or "swagger" in found:
                return OPENAPI
        raise IntakeError(
            f"{self.name} is no OpenAPI or Swagger document, no HAR and no JMeter plan: name a "
            "file that has `openapi`, `swagger`, `log.entries` or <jmeterTestPlan>"
        )


def load(place: str) -> Source:
    """The source that a path or a URL names. Raises IntakeError."""
    if place.lower().startswith(("http://", "https://")):
        _check(place)
        return Source(shown(place), place, fetched(place))
    return Source(place, Path(place).absolute().as_uri(), text_of(place))


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
