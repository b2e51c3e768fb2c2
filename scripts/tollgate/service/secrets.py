"""What a plan reads of the secrets that the environment holds for its service."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lxml import etree

from tollgate.base.settings import SettingError
from tollgate.plan import jmx
from tollgate.plan.expressions import reads_property
from tollgate.plan.inline import put_in_tree
from tollgate.record.redaction import AS_JSON
from tollgate.service.elements import has_in_urls
from tollgate.service.model import Service


def read_secrets(
    service: Service, plan: Path, environment: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """The settings of modules.jmeter by which a plan gets the secrets of its service that it reads,
    as properties, which no file of the run shows. A URL that has one in it would stand in the
    samples, so these are written without. Raises SettingError for one that is not set."""
    variables = service.settings.environment
    if not variables:
        return {}
    try:
        document = jmx.parsed(plan)
    except (OSError, etree.XMLSyntaxError):  # of the user's own: `plan` says what is wrong with it
        return {}
    put_in_tree(document, plan)
    text = etree.tostring(document, encoding="unicode")
    properties = {}
    for name in variables:
        is_plain, is_json = (reads_property(text, each) for each in (name, f"{name}{AS_JSON}"))
        if (is_plain or is_json) and not environment.get(name):
            raise SettingError(
                f"scenarios.{service.name}.environment names {name}, and no variable of that name "
                "is set: the comment in taurus.yml says what it is for, export it"
            )
        if is_plain:
            properties[name] = environment[name]
        if is_json:
            properties[f"{name}{AS_JSON}"] = json.dumps(environment[name])[1:-1]
    if not has_in_urls(document.getroot(), variables):
        return {"properties": properties}
    properties["jmeter.save.saveservice.url"] = "false"  # of a rehearsal
    return {"properties": properties, "csv-jtl-flags": {"url": False}}
