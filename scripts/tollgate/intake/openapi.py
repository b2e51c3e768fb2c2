"""OpenAPI 3 and Swagger 2 to a Draft: an operation is a label, parameters are columns of data."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tollgate.base.text import did_you_mean, one_line, some_of, unique
from tollgate.compare.model import ALL_LABELS
from tollgate.intake import literal, styles, values
from tollgate.intake.document import METHODS, Document, Operation
from tollgate.intake.draft import GUESSED, Draft, IntakeError
from tollgate.intake.notation import as_list, as_mapping
from tollgate.intake.openapi_answers import JSON, answer_of, checks_of
from tollgate.intake.source import Source
from tollgate.record.redaction import is_secret
from tollgate.service.model import LONGEST_SLUG, TAKEN, slug_of

#: Of drawn values: the same document gives the same draft.
_SEED = 1
#: Methods that change nothing.
READING = ("GET", "HEAD")
#: Names that Taurus, or the plans of some kinds, have variables of.
_TAKEN = ("TAURUS_ARTIFACTS_DIR", "arrival", "block", "coin", "due", "server", "trial", "worker")
_FORM = "application/x-www-form-urlencoded"
#: Headers that have places of their own: bodies, answers, security.
_OWN_HEADERS = ("accept", "authorization", "content-type")
_NAMED = 12
#: Characters of all schemas of answers. GitHub's have a third.
_MOST_OF_SCHEMAS = 100_000_000
#: Variables, what criteria have words for, what XML can't hold, and ends of lines.
_NOT_IN_LABELS = re.compile(r"\$\{|[<>=\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


@dataclass
class _Reading:
    """What a draft is made of. prefix: of variables of the environment. schemas_left: of
    _MOST_OF_SCHEMAS."""

    document: Document
    prefix: str
    budget: values.Budget = field(default_factory=values.Budget)
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    slugs: set[str] = field(default_factory=set)
    secrets: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    probes: list[dict[str, str]] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)
    schemas_left: int = _MOST_OF_SCHEMAS

    def __post_init__(self) -> None:
        self.draws = values.Draws.of(_SEED, self.budget)

    def has_room(self, schema: Any) -> bool:
        """Whether the schemas of answers may have one more."""
        self.schemas_left -= len(json.dumps(schema))
        return self.schemas_left >= 0


@dataclass
class _Parts:
    """What one operation is asked with. first: by reference, the value of the first row. guesses:
    of which parameters the values are drawn."""

    path: str
    query: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    guesses: list[str] = field(default_factory=list)
    has_secret: bool = False

    @property
    def url(self) -> str:
        """Its path with its query, encoded where no URL has it, as a document may write it either
        way."""
        path = literal.quoted(self.path, lambda text: quote(text, safe="/?~@:!$'()*+,;=&%"))
        path = re.sub("%(?![0-9A-Fa-f]{2})", "%25", path)
        return "?".join(filter(None, (path, "&".join(self.query))))

    @property
    def probe(self) -> str:
        """The same with the values of the first row."""
        return literal.REFERENCE.sub(lambda reference: self.first[reference[0]], self.url)


def read_openapi(source: Source, name: str, named: Collection[str] = ()) -> Draft:
    """What a document says of a service.

    name: of the service, which begins the names of the environment's variables. named: operations
    that may write and are wanted all the same, by their ids or as `POST /orders`. Raises
    IntakeError."""
    document = Document(source)
    reading = _Reading(document, name)
    operations = [*document.operations()]
    chosen = _chosen(reading, operations, named)
    requests = [it for it in (_in_budget(reading, each) for each in chosen) if it]
    if not requests:
        raise IntakeError(
            f"{source.name} has no operation that only reads: name others by --request, such as "
            f"{next((repr(it.text) for it in operations), 'POST /orders')}"
        )
    if reading.budget.is_used:
        reading.remarks.append(
            "not all values were compared with their schemas: that would take too long"
        )
    # Last, for it takes longest: what is refused is refused before.
    faults = document.faults()
    if faults:
        more = f" (and {len(faults) - 1} more)" if faults[1:] else ""
        fault = f"{source.name} is not quite valid: {one_line(faults[0])}{more}"
        reading.remarks.insert(0, fault)
    return Draft.of_source(
        requests=tuple(requests),
        data=reading.columns,
        url=document.base[0],
        secrets=reading.secrets,
        remarks=tuple(reading.remarks),
        probes=tuple(reading.probes),
        answers=reading.answers,
    )


def _chosen(
    reading: _Reading, operations: Iterable[Operation], named: Collection[str]
) -> list[Operation]:
    """Those that read, and those that are named."""
    chosen, left, unknown = [], [], set(named)
    for operation in operations:
        names = {operation.text, str(operation.described.get("operationId") or operation.text)}
        unknown -= names
        if operation.method.lower() not in METHODS:
            reading.remarks.append(f"left out {operation.text}: requests have no such method")
        elif operation.method in READING or names & set(named):
            chosen.append(operation)
        elif operation.method != "OPTIONS":
            left.append(operation)
    if unknown:
        name = min(unknown)
        near = did_you_mean(name, (it.text for it in (*chosen, *left)))
        raise IntakeError(f"--request {name!r} is no operation of the document: {near}")
    if left:
        writing = some_of([it.text for it in left], _NAMED)
        reading.remarks.append(
            f"left out, because they may write: {writing}; name one by --request '{left[0].text}'"
        )
    others = [it for it in chosen if it.elsewhere]
    reading.remarks += [f"left out {it.text}: its `servers` name {it.elsewhere}" for it in others]
    return [it for it in chosen if not it.elsewhere]


def _in_budget(reading: _Reading, operation: Operation) -> dict[str, Any] | None:
    before = len(reading.remarks)
    try:
        request = _request(reading, reading.document.completed(operation))
        # A text that many operations share stands in the draft of each.
        reading.budget.spend(len(str([request, *reading.remarks[before:]])) // 1000 * 100)
        return request
    except values.TooManyError:
        raise IntakeError(
            f"{reading.document.source.name}, {operation.text}: with its values the document asks "
            f"for more than {values.MOST_DRAWN:,}, by its minItems, minLength, number of "
            "parameters or long texts: name a part of it, or leave this operation out"
        ) from None
    except (TypeError, AttributeError, KeyError) as problem:
        why = one_line(repr(problem))[:200]
        reading.remarks.append(
            f"left out {operation.text}: what is said of it is no schema ({why})"
        )
        return None


def _request(reading: _Reading, operation: Operation) -> dict[str, Any] | None:
    """The request of an operation; None where a remark says why there is none."""
    label = _label(reading, operation)
    parts = _Parts(operation.base + operation.path)
    for parameter in operation.parameters:
        _add(reading, parts, parameter)
    for name in re.findall(r"\{([^{}$]*)\}", parts.path):
        _add(reading, parts, {"name": name, "in": "path", "schema": {"type": "string"}})
    body = _body(reading, operation, parts)
    if parts.path.startswith("//"):
        reading.remarks.append(f"left out {operation.text}: behind // Taurus reads a host")
        return None
    if body is NO_BODY:
        return None
    _secure(reading, operation, parts)
    status, types, schema = answer_of(reading.document, operation)
    is_json = any(map(JSON.fullmatch, types))
    is_plain = operation.method == "GET" and not parts.headers and not parts.has_secret
    if is_plain and is_json and schema and status == "200" and reading.has_room(schema):
        reading.answers[label] = schema
        reading.probes.append({"path": parts.probe, "schema": label})
    if len(types) > 1 or (types and not is_json):
        parts.headers["Accept"] = next(filter(JSON.fullmatch, types), types[0])
    request = {
        "label": label,
        "url": parts.url,
        "method": operation.method if operation.method != "GET" else None,
        "headers": parts.headers,
        "body": body,
        "follow-redirects": False if status.startswith("3") else None,
        "assert": checks_of(status, schema if is_json else {}),
        GUESSED: ", ".join(dict.fromkeys(parts.guesses)),
    }
    return {key: it for key, it in request.items() if it is False or it}


def _label(reading: _Reading, operation: Operation) -> str:
    """Its id, else method and path: as a property's name no other label has it."""
    names = (operation.described.get("operationId"), operation.text)
    texts = (_NOT_IN_LABELS.sub("-", str(it or ""))[: LONGEST_SLUG - 4].strip() for it in names)
    label = next(it for it in texts if _is_label(slug_of(it).lower()) and it != ALL_LABELS)
    label = unique(label, lambda other: slug_of(other).lower() in reading.slugs, " ")
    reading.slugs.add(slug_of(label).lower())
    return label


def _is_label(slug: str) -> bool:
    """Whether a service may have such a label: an id may be of another alphabet."""
    return bool(re.search("[a-z]", slug)) and slug not in TAKEN


def _described(parameter: Mapping[str, Any]) -> Mapping[str, Any]:
    """With the schema and the examples of its media type, if it has one."""
    media = as_mapping(parameter.get("content")).values()
    return {**as_mapping(next(iter(media), None)), **parameter}


def _add(reading: _Reading, parts: _Parts, parameter: Mapping[str, Any]) -> None:
    """A parameter of a path, a query or a header."""
    place, name = str(parameter.get("in")), str(parameter.get("name"))
    is_query = place in ("query", "querystring")
    described = _described(parameter)
    # Swagger's parameters are schemas themselves.
    schema = as_mapping(described.get("schema", described))
    is_required = parameter.get("required") or place == "path"
    if not is_query and place not in ("path", "header"):
        if place == "cookie" and is_required:
            reading.remarks.append(f"{parts.path} needs the cookie {name!r}: add it to its headers")
        return
    if place == "header" and name.lower() in _OWN_HEADERS:
        return
    if place == "header" and is_required and not _is_name(reading, parts, place, name):
        return
    # By its name: the same parameter of two operations has the same values.
    drawn = values.column(described, schema, values.Draws.of(name, reading.budget))
    if drawn.is_guess and is_required and is_secret(name):
        reference = _secret(reading, name, f"the parameter {name!r}")
        encoded = reference if place == "header" else literal.in_url(reference)
        parts.first[encoded] = ""
        _put(parts, place, name, f"{quote(name)}={encoded}" if is_query else encoded)
        parts.has_secret = True
        return
    if not is_required and (drawn.is_guess or place == "header"):
        return
    if is_query:
        template, texts = _in_query(
            name, [styles.query_pairs(parameter, it) for it in drawn.values]
        )
    else:
        template = "{}"
        texts = tuple(styles.in_path_or_header(parameter, it) for it in drawn.values)
    reading.budget.spend(sum(map(len, texts)) // 10)
    variable = _variable(reading, name, texts)
    if drawn.is_guess:
        parts.guesses.append(variable)
        problems = (values.problem_of(schema, it, reading.budget) for it in drawn.values)
        if problem := next(filter(None, problems), ""):
            reading.remarks.append(f"correct {variable!r}: its schema does not allow it: {problem}")
    reference = literal.reference(variable)
    parts.first[reference] = texts[0]
    _put(parts, place, name, template.format(reference))


def _is_name(reading: _Reading, parts: _Parts, place: str, name: str) -> bool:
    """Whether a header or a cookie can be called so; if not, a remark says so."""
    if literal.NAME.fullmatch(name):
        return True
    reading.remarks.append(f"{parts.path} needs the {place} {name!r}, as none can be called")
    return False


def _in_query(name: str, rows: list[list[tuple[str, str]]]) -> tuple[str, tuple[str, ...]]:
    """(the part of a query with {} for a column, the column). It holds values where each row is one
    pair of the parameter's own name, else whole pairs, for rows may have any number of them."""
    if all([key for key, _ in row] == [quote(name)] for row in rows):
        return f"{quote(name)}={{}}", tuple(row[0][1] for row in rows)
    pairs = ([f"{key}={value}" if key else value for key, value in row] for row in rows)
    return "{}", tuple(map("&".join, pairs))


def _put(parts: _Parts, place: str, name: str, text: str) -> None:
    """A variable in its place."""
    if place == "path":
        parts.path = parts.path.replace(f"{{{name}}}", text)
    elif place == "header":
        parts.headers[name] = text
    else:
        parts.query.append(text)


def _secret(reading: _Reading, name: str, words: str) -> str:
    """The reference to a variable of the environment."""
    variable = re.sub(r"\W+", "_", f"{reading.prefix}_{name}", flags=re.ASCII).upper()
    reading.secrets[variable] = words
    return literal.reference(f"__P({variable})")


def _variable(reading: _Reading, name: str, texts: tuple[str, ...]) -> str:
    """The column of a parameter: that of another operation where both have the same values."""
    stem = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "value"
    stem = f"a_{stem}" if stem in _TAKEN or stem[0].isdigit() else stem
    name = unique(stem, lambda other: reading.columns.get(other, texts) != texts)
    reading.columns[name] = texts
    return name


#: In place of a body that can't be made.
NO_BODY = object()


def _body(reading: _Reading, operation: Operation, parts: _Parts) -> Any:
    """What it sends; None for nothing, NO_BODY where a remark says why it can't be made."""
    described = operation.described
    if reading.document.is_swagger:
        root = reading.document.root
        types = as_list(described.get("consumes")) or as_list(root.get("consumes"))
        schemas = _swagger_bodies(operation, types)
    else:
        content = as_mapping(as_mapping(described.get("requestBody")).get("content"))
        kinds = {kind: as_mapping(it) for kind, it in content.items()}
        schemas = {kind: (it, as_mapping(it.get("schema"))) for kind, it in kinds.items()}
    if not schemas:
        return None
    kind = next(filter(JSON.fullmatch, schemas), _FORM if _FORM in schemas else None)
    if kind is None:
        reading.remarks.append(f"left out {operation.text}: it sends {next(iter(schemas))}")
        return NO_BODY
    media, schema = schemas[kind]
    examples = [_as_json(it, schema) for it in values.examples_of(media, schema)]
    if not examples:
        examples = [values.drawn(schema, reading.draws)]
        parts.guesses.append("body")
    body = values.first_that_fits(schema, examples, reading.budget)
    if problem := values.problem_of(schema, body, reading.budget):
        reading.remarks.append(
            f"correct the body of {operation.text}: its schema does not allow it: {problem}"
        )
    # A form that taurus.yml can't have as a mapping is sent as a text.
    if kind != _FORM or not literal.are_keys(literal.every(body)):
        parts.headers["Content-Type"] = kind
    if kind == _FORM and isinstance(body, dict):
        return {key: it if isinstance(it, str) else json.dumps(it) for key, it in body.items()}
    # An empty mapping is no body in taurus.yml.
    return body if isinstance(body, dict) and body else json.dumps(body)


def _as_json(example: Any, schema: Mapping[str, Any]) -> Any:
    """An example, which may stand in the document as the text of what is sent."""
    kinds = schema.get("type")
    if not isinstance(example, str) or "string" in (kinds if isinstance(kinds, list) else [kinds]):
        return example
    try:
        return json.loads(example)
    except ValueError:
        return example


def _swagger_bodies(operation: Operation, types: list[str]) -> dict[str, tuple[Any, Any]]:
    for parameter in operation.parameters:
        if parameter.get("in") == "body":
            types = types or ["application/json"]
            kind = next(filter(JSON.fullmatch, types), types[0])
            return {kind: ({}, as_mapping(parameter.get("schema")))}
    form = {str(it.get("name")): it for it in operation.parameters if it.get("in") == "formData"}
    if not form:
        return {}
    if any(it.get("type") == "file" for it in form.values()):
        return {"multipart/form-data": ({}, {})}
    required = [name for name, it in form.items() if it.get("required")]
    return {_FORM: ({}, {"type": "object", "properties": form, "required": required})}


def _secure(reading: _Reading, operation: Operation, parts: _Parts) -> None:
    """Give it the secrets that it needs, which come from the environment."""
    root = reading.document.root
    needed = operation.described.get("security", root.get("security"))
    needed = needed if isinstance(needed, list) else [needed]
    if not needed or not all(needed):
        return
    in_components = as_mapping(root.get("components")).get("securitySchemes")
    schemes = as_mapping(root.get("securityDefinitions") or in_components)
    # Some documents name a scheme alone, without the list of its scopes.
    for scheme in needed[0] if isinstance(needed[0], Mapping) else [str(needed[0])]:
        described = reading.document.expanded(schemes.get(scheme), f"security {scheme}")
        _send_secret(reading, parts, scheme, as_mapping(described))


def _send_secret(
    reading: _Reading, parts: _Parts, scheme: str, described: Mapping[str, Any]
) -> None:
    kind, place = described.get("type"), described.get("in")
    is_basic = "basic" in (kind, str(described.get("scheme")).lower())
    words = "user:password in base64" if is_basic else str(kind or "security")
    reference = _secret(reading, scheme, f"{words} of {scheme}")
    parts.has_secret = True
    name = str(described.get("name", ""))
    if kind != "apiKey":
        parts.headers["Authorization"] = f"{'Basic' if is_basic else 'Bearer'} {reference}"
    elif place == "query":
        parts.query.append(f"{quote(name)}={literal.in_url(reference)}")
    elif _is_name(reading, parts, str(place), name):
        if place == "header":
            parts.headers[name] = reference
        else:
            parts.headers["Cookie"] = f"{name}={reference}"
