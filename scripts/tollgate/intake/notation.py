"""JSON and YAML of strangers, within limits that are kept while they are read. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from tollgate.intake.draft import IntakeError

#: Values with those that aliases repeat. GitHub's API without references has 1,290,000, its own
#: document 260,000.
MOST_VALUES = 2_000_000
#: Of a recording, most of whose values are headers: some 150 an entry.
MOST_RECORDED = 4_000_000
#: GitHub's API without references is nested 30 deep. What walks it in Python needs this bound.
DEEPEST = 100
#: Digits: the largest double has 309, and no larger whole number becomes one.
_LONGEST_NUMBER = 300
_STRING_OR_MARK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[,\[{]', re.DOTALL)
#: A pair of surrogates, half of one, and any other escape of JSON.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_EVENTS = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
#: The core schema of YAML 1.2.2 (10.3.2), and dates, which are texts.
_PLAIN = re.compile(
    r"(?P<null>~|null|Null|NULL|)|(?P<bool>true|True|TRUE|false|False|FALSE)"
    r"|(?P<int>[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))"
)
_SCALAR_TAGS = ("null", "bool", "int", "float", "str", "timestamp", "binary")
_KNOWN_TAGS = {None, "!", *(_TAG + it for it in (*_SCALAR_TAGS, "map", "seq"))}
_MERGE = "<<"


def parsed(name: str, text: str) -> Any:
    """JSON or YAML. name: for messages. Raises IntakeError."""
    try:
        return json_of(text) if text.lstrip()[:1] in "{[" else _yaml_of(text)
    except _TooLargeError as problem:
        raise IntakeError(f"{name} {problem}: name a smaller document, or a part of it") from None
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        why = getattr(problem, "problem", None) or "can't be read"
    except ValueError as problem:
        where, why = "", str(problem)
    raise IntakeError(f"{name}{where} is neither JSON nor YAML ({why}): correct it")


class _TooLargeError(ValueError):
    """Which limit a text is beyond."""


_TOO_DEEP = f"is nested more than {DEEPEST} deep"
_TOO_LONG = f"has a number of more than {_LONGEST_NUMBER} digits"


def json_of(text: str) -> Any:
    """What JSON says. Raises ValueError, also for what is beyond the limits. Half a pair of
    surrogates, which no UTF-8 can hold, is the replacement character."""
    most = MOST_RECORDED if '"entries"' in text else MOST_VALUES
    if sum(map(text.count, ",[{")) > most:  # some of them may stand in texts
        marks = (it for it in _STRING_OR_MARK.finditer(text) if text[it.start()] != '"')
        if any(count > most for count, _ in enumerate(marks)):
            raise _TooLargeError(f"has more than {most:,} values")
    if re.search(r"\\u[dD][89a-fA-F]", text):
        text = _ESCAPE.sub(lambda escape: r"\ufffd" if escape["half"] else escape[0], text)
    try:
        value = json.loads(text)
    except RecursionError:
        raise _TooLargeError(_TOO_DEEP) from None
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [it for each in level for it in _inside(each)]
    if level:
        raise _TooLargeError(_TOO_DEEP)
    return value


def as_mapping(value: Any) -> Mapping[str, Any]:
    """A mapping of a document; many a one has something else in its place."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    """A list of a document."""
    return value if isinstance(value, list) else []


def size_of(value: Any) -> int:
    """As how many values one counts: a long text may be repeated as often as a short one."""
    return 1 + len(value) // 1000 * 25 if isinstance(value, str) else 1


def _inside(value: Any) -> Any:
    """What a list or a mapping holds."""
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER * 3.33:
        raise _TooLargeError(_TOO_LONG)
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _yaml_of(text: str) -> Any:
    loader = _EVENTS(text)
    events = iter(loader.get_event, None)
    builder, value = None, None
    try:
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if builder:
                    raise _wrong(event, "it holds several documents")
                builder = _Builder(events)
                value = builder.value(next(events))
    finally:
        loader.dispose()
    return value


class _Builder:
    """Makes values of YAML's events as they come: of `NO`, `on`, `12:30` and dates texts, and so of
    each key, such as the 200 of an answer. PyYAML's own loader makes a tree before, of any size."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._count = 0
        self._anchored: dict[str, tuple[Any, int, str | None]] = {}

    def value(self, event: Any, depth: int = 0) -> Any:
        """What begins with an event."""
        return self._read(event, depth)[0]

    def _read(self, event: Any, depth: int) -> tuple[Any, str | None]:
        """(what begins with an event, the text of a scalar)."""
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchored:
                raise _wrong(event, f"the alias {event.anchor} is not there, or within itself")
            value, size, text = self._anchored[event.anchor]
            self._add(size)
            return value, text
        if event.tag not in _KNOWN_TAGS:
            raise _wrong(event, f"the tag {event.tag} is not known")
        self._anchored.pop(event.anchor, None)
        before, text = self._count, getattr(event, "value", None)
        self._add(size_of(text))
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event)
        elif depth == DEEPEST:
            raise _TooLargeError(_TOO_DEEP)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = [self.value(item, depth + 1) for item in self._inside()]
        else:
            value = self._mapping(depth + 1)
        if event.anchor:
            self._anchored[event.anchor] = value, self._count - before, text
        return value, text

    def _mapping(self, depth: int) -> dict[str, Any]:
        pairs: dict[str, Any] = {}
        merged: list[dict[str, Any]] = []
        for event in self._inside():
            _, key = self._read(event, depth)
            if key is None:
                raise _wrong(event, "a key is no text")
            value = self.value(next(self._events), depth)
            if key == _MERGE and isinstance(value, dict | list):
                sources = value if isinstance(value, list) else [value]
                if not all(isinstance(source, dict) for source in sources):
                    raise _wrong(event, "what is merged is no mapping")
                merged += sources
            else:
                pairs[key] = value
        return {**dict(pair for it in reversed(merged) for pair in it.items()), **pairs}

    def _inside(self) -> Iterator[Any]:
        """Events that begin what a list or a mapping holds."""
        while not isinstance(event := next(self._events), yaml.CollectionEndEvent):
            yield event

    def _add(self, count: int) -> None:
        self._count += count
        if self._count > MOST_VALUES:
            raise _TooLargeError(f"has more than {MOST_VALUES:,} values")


def _wrong(event: yaml.Event, why: str) -> yaml.YAMLError:
    return yaml.MarkedYAMLError(problem=why, problem_mark=event.start_mark)


def _scalar(event: yaml.ScalarEvent) -> Any:
    """Its value: a quoted one is a text, and so is a plain one that is like nothing else."""
    text, tag = event.value, (event.tag or "!").removeprefix(_TAG)
    if not event.implicit[0] and tag in ("!", "str"):
        return text
    match = _PLAIN.fullmatch(text)
    kind = match.lastgroup if match and tag in ("!", match.lastgroup, "float") else "str"
    if kind in ("int", "float") and len(text) > _LONGEST_NUMBER:
        raise _TooLargeError(_TOO_LONG)
    if kind == "int":  # 0123 is 123: the digits of YAML 1.1 were octal
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if kind == "float":
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    if kind == "bool":
        return text[:1] in "tT"
    return None if kind == "null" else text
