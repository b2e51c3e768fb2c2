"""What a source says of a service, before a user has edited it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tollgate.base.text import UserError
from tollgate.intake import literal

#: Where a cookie of the service's goes, as taurus.yml has it.
SENT_TO_SERVICE = {"domain": literal.reference("__P(host,127.0.0.1)"), "path": "/"}

#: Of a request: what of it is guessed. The writer makes a comment of it.
GUESSED = "x-guessed"


class IntakeError(UserError, ValueError):
    """One line: which source can't be read, where in it, and what to do."""


@dataclass(frozen=True)
class Draft:
    """What a source says of a service."""

    requests: tuple[dict[str, Any], ...]
    """As `requests:` of a service in taurus.yml. `x-guessed` of one becomes a comment."""
    data: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns of data/NAME.csv with their values, as many of each."""
    url: str | None = None
    """Where the service answers, if the source says so."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Environment variables, each with what it is for, such as "cookie session"; never a value."""
    remarks: tuple[str, ...] = ()
    """What was guessed or left out, one line each."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the service in taurus.yml, such as `cookies`."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The text of each further file, such as a Test Fragment, by its path in the suite."""
    probes: tuple[Mapping[str, str], ...] = ()
    """As `probes:` of a service, with `schema` for the label whose answer's schema is meant."""
    answers: Mapping[str, Any] = field(default_factory=dict)
    """JSON Schemas of answers, by label."""

    @classmethod
    def of_source(
        cls,
        requests: Iterable[Mapping[str, Any]],
        remarks: Iterable[str],
        settings: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Draft:
        """Of what another wrote: JMeter sends each text of it as it is, and evaluates nothing but
        what literal.reference has made."""
        more["remarks"] = tuple(map(literal.opened, remarks))
        return cls(
            tuple(map(literal.every, requests)), settings=literal.every(settings or {}), **more
        )
