"""What an OpenAPI or Swagger document says of answers: status, media types and schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tollgate.intake import values
from tollgate.intake.dialect import as_json_schema
from tollgate.intake.document import Document, Operation
from tollgate.intake.notation import as_list, as_mapping

JSON = re.compile(r"application/(?:[\w.-]+\+)?json\b.*", re.IGNORECASE)


def answer_of(document: Document, operation: Operation) -> tuple[str, list[str], dict[str, Any]]:
    """(status, media types, schema) of what is answered where all is well; empty where it is not
    said, or where there are several."""
    described = operation.described
    responses = {str(key): it for key, it in as_mapping(described.get("responses")).items()}
    fine = sorted(it for it in responses if re.fullmatch("2[0-9][0-9]", it))
    fine = fine or sorted(it for it in responses if re.fullmatch("3[0-9][0-9]", it))
    if not fine:
        return "", [], {}
    response = as_mapping(responses[fine[0]])
    if document.is_swagger:
        types = as_list(described.get("produces")) or as_list(document.root.get("produces"))
        schema = response.get("schema")
    else:
        content = as_mapping(response.get("content"))
        types = [*content]
        media = [it for kind, it in content.items() if JSON.fullmatch(kind)]
        schema = as_mapping(media[0] if media else None).get("schema")
    status = fine[0] if len(fine) == 1 else ""
    if operation.method == "HEAD":  # its answer has no body, whatever GET is answered with
        return status, types, {}
    return status, types, as_json_schema(as_mapping(schema))


def checks_of(status: str, schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What is asserted under load: the status, and the keys that an answer always has."""
    checks: list[dict[str, Any]] = []
    if status:
        checks.append({"contains": [status], "subject": "http-code"})
    whole = values.merged([{"allOf": [schema]}])
    required = whole.get("required") if whole.get("type", "object") == "object" else None
    if isinstance(required, list) and required:
        keys = [json.dumps(str(it)) for it in dict.fromkeys(required)]
        checks.append({"contains": keys, "regexp": False})
    return checks
