"""What a file or a URL of any kind says of a service."""

from __future__ import annotations

import signal
from collections.abc import Collection
from pathlib import Path

from tollgate.base.patience import telling
from tollgate.base.time_limit import within
from tollgate.intake.draft import Draft, IntakeError
from tollgate.intake.har import read_har
from tollgate.intake.jmx import read_jmx
from tollgate.intake.source import HAR, OPENAPI, load

#: Seconds of CPU after which a source is given up whatever the reason, and more for each megabyte:
#: GitHub's document, of 13 MB, takes 5.
_LEAST_S, _MB_S = 30, 3


def draft_of(
    place: str,
    name: str,
    suite: Path,
    named: Collection[str] = (),
    with_static: bool = False,
    url: str | None = None,
) -> Draft:
    """The draft of a service from an OpenAPI document, a recording or a plan.

    place: a path or a URL. name: of the service. suite: the folder of taurus.yml. named: operations
    of OpenAPI that may write and are wanted. with_static: of a recording, whether images and the
    like are asked for. url: where the service answers; of several hosts of a recording or a plan it
    chooses the one that is meant. Raises IntakeError and PlanError."""
    source = load(place)
    size_mb = len(source.text) / 1e6
    try:
        with (
            telling(f"reading {source.name} ({size_mb:.1f} MB)"),
            within(_LEAST_S + _MB_S * size_mb, signal.ITIMER_PROF),
        ):
            kind = source.kind
            if kind == OPENAPI:
                from tollgate.intake.openapi import read_openapi  # takes a second to import

                return read_openapi(source, name, named)
            if named:
                raise IntakeError(
                    f"--request names operations of OpenAPI, and {source.name} is a {kind}"
                )
            if kind == HAR:
                return read_har(source, name, url, with_static)
            return read_jmx(source, name, suite, url)
    except TimeoutError as problem:
        why = f"can't be read: {problem}, more than its size explains"
    except RecursionError:
        why = "is nested too deeply, or refers to itself"
    raise IntakeError(f"{source.name} {why}: name a part of it")
