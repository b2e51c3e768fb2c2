"""What a file or a URL of any kind says of a service."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from tollgate.intake.draft import Draft, IntakeError
from tollgate.intake.har import read_har
from tollgate.intake.jmx import read_jmx
from tollgate.intake.source import HAR, OPENAPI, load


def draft_of(
    given: str,
    name: str,
    suite: Path,
    named: Collection[str] = (),
    with_static: bool = False,
    url: str | None = None,
) -> Draft:
    """The draft of a service from an OpenAPI document, a recording or a plan.

    given: a path or a URL. name: of the service. suite: the folder of taurus.yml. named: operations
    of OpenAPI that may write and are wanted. with_static: of a recording, whether images and the
    like are asked for. url: where the service answers; of several hosts of a recording or a plan it
    chooses the one that is meant. Raises IntakeError and PlanError."""
    source = load(given)
    kind = source.kind
    if kind == OPENAPI:
        from tollgate.intake.openapi import read_openapi  # its readers take a second to import

        return read_openapi(source, name, named)
    if named:
        raise IntakeError(f"--request names operations of OpenAPI, and {source.name} is a {kind}")
    if kind == HAR:
        return read_har(source, name, url, with_static)
    return read_jmx(source, name, suite, url)
