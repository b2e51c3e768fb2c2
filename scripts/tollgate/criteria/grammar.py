"""Taurus's grammar of pass/fail criteria: `p95 of search>250ms for 10s, continue as failed`.

The grammar and its meaning are those of Taurus 1.17 (bzt/modules/passfail.py), and a criterion
states when a run FAILS. A text is taken apart from both ends, so that a label may hold anything.
What differs: wherever Taurus reads something other than what is written (no unit means seconds,
`p95>250 ms` loses its unit, `rc500 of x>=5` becomes label `x>` and `=`, an action with a typo is
dropped) this reader reads what is written or refuses with a reason.

Tollgate's own subjects, on the target's workers and on slopes, which Taurus never sees, are
described in subjects.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tollgate.base.text import one_line
from tollgate.criteria.subjects import (
    CAPACITY,
    CONDITIONS,
    LATENCY_SLOPE,
    WORKER_SUBJECTS,
    Condition,
    Unit,
    read_condition,
    read_label,
    read_subject,
    refuse_window,
)
from tollgate.criteria.thresholds import read_threshold, read_window

HEAD = re.compile(r"\s*(?P<subject>\S+?)(\s+of\s+(?P<label>.*\S))?\s*", re.DOTALL)
ACTION = re.compile(r"(stop|continue)(?:\s+as\s+(failed|non-failed))?")
TAIL = re.compile(r"(?P<threshold>\S+)(\s+(?P<logic>for|within|over)\s+(?P<timeframe>\S+))?")
FIELDS = (
    *("subject", "label", "condition", "threshold", "timeframe"),
    *("logic", "stop", "fail", "message"),
)


class CriterionError(ValueError):
    """A criterion that is refused; one line: criterion, field, value, reason and next step."""

    def __init__(
        self, criterion: str, field: str, value: object, problem: str, next_step: str = ""
    ):
        self.criterion, self.field, self.value = criterion, field, value
        self.problem, self.next_step = problem, next_step
        step = f"; {next_step}" if next_step else ""
        what = f" {field} {value!r}:" if field else ""
        line = f"criterion '{criterion}':{what} {problem}{step}"
        super().__init__(one_line(line))


def split(text: str, labels: Collection[str]) -> dict[str, Any]:
    """The fields of a criterion's text, read from both ends, so that a label may hold anything."""
    comparison = re.search(r"([<>=]+)([^<>=]*)$", text)
    if not comparison:
        step = "write it as 'p95 of search>250ms'"
        raise CriterionError(text, "condition", "", "no <, <=, >, >= or = is in it", step)
    head, condition = text[: comparison.start()], comparison[1]
    rest, comma, action = comparison[2].strip().partition(",")
    fields = {"condition": condition, **_split_action(text, action.strip(), comma)}
    tail = TAIL.fullmatch(rest.strip())
    if not tail:
        step = (
            "write '250ms' without a space, and a window as 'for 10s', 'within 10s' or 'over 10s'"
        )
        raise CriterionError(text, "threshold", rest.strip(), "not a threshold and a window", step)
    fields |= {key: value for key, value in tail.groupdict().items() if value}
    return fields | _split_head(text, head, labels)


def _split_action(text: str, action: str, comma: str) -> dict[str, Any]:
    if not comma:
        return {}
    words = ACTION.fullmatch(action)
    if not words:
        step = "write 'stop as failed', 'continue as failed', 'stop as non-failed' or the like"
        raise CriterionError(text, "action", action, "unknown", step)
    return {"stop": words[1] == "stop", "fail": words[2] != "non-failed"}


def _split_head(text: str, head: str, labels: Collection[str]) -> dict[str, Any]:
    """Message, subject and label: each ':' may end the message or belong to the label."""
    readings = []
    for at in [-1, *(index for index, char in enumerate(head) if char == ":")]:
        fields = HEAD.fullmatch(head[at + 1 :])
        if fields and read_subject(fields["subject"]):
            message = head[:at].strip() if at >= 0 else None
            readings.append({"message": message, **fields.groupdict(default="")})
    of_plan = [reading for reading in readings if reading["label"] in labels]
    if len(of_plan) == 1 or len(readings) == 1:
        return (of_plan or readings)[0]
    if not readings:
        # Refused with the nearest name when the subject is read.
        last = HEAD.fullmatch(head.rpartition(":")[2])
        return last.groupdict(default="") if last else {"subject": head.strip(), "label": ""}
    step = "write it as a dictionary with subject, label, condition and threshold"
    labels_read = " or ".join(repr(reading["label"]) for reading in readings)
    raise CriterionError(text, "label", labels_read, "a ':' can be read in more ways", step)


@dataclass(frozen=True)
class Criterion:
    """When a run fails. Thresholds are in `unit`: ms, bytes, users, count, percent (is_percent:
    of the requests), or a unit of subjects.py.

    label '' means all samplers together; that of a criterion on workers is `worker`. logic and
    timeframe_s are None for a criterion on the whole run. text is the same for every way to write
    the same criterion, and names it in reports.
    """

    subject: str
    percentile: float | None
    label: str
    condition: Condition
    threshold: float
    is_percent: bool
    unit: Unit
    logic: str | None
    timeframe_s: int | None
    stop: bool
    fail: bool
    message: str | None
    text: str

    @property
    def is_of_workers(self) -> bool:
        """Whether it is about the target's workers, not about samples."""
        return self.subject in WORKER_SUBJECTS

    @property
    def is_of_capacity(self) -> bool:
        """Whether it is about what a search for capacity found; its label names an execution."""
        return self.subject == CAPACITY

    @property
    def is_count(self) -> bool:
        """Whether its value can only grow with the samples of a run."""
        of_samples = self.unit in ("count", "bytes", "users") and not self.is_of_workers
        return of_samples and self.timeframe_s is None

    @property
    def is_of_time(self) -> bool:
        """Whether it is about the times of samples, in one way or another."""
        return not self.is_of_workers and self.unit in ("ms", LATENCY_SLOPE)

    @property
    def is_latency_slope(self) -> bool:
        return self.unit == LATENCY_SLOPE

    @property
    def is_estimate(self) -> bool:
        """Whether it is judged by an interval: a latency, a slope or a mean of the whole run."""
        if self.is_of_workers:
            return self.subject not in ("rss", "restarts")
        return self.unit in ("ms", LATENCY_SLOPE) and self.timeframe_s is None

    @property
    def may_respond(self) -> bool:
        """Whether the response time can be judged in place of the service time."""
        return self.percentile is not None or self.subject in ("avg-rt", "stdev-rt")

    def violates(self, value: float) -> bool:
        """Whether a run of this value fails."""
        return CONDITIONS[self.condition](value, self.threshold)

    @property
    def can_stop_early(self) -> bool:
        """Whether it has a window and a say: only then is it judged while the run goes on."""
        return self.stop and self.fail and self.timeframe_s is not None


def parse_all(
    config: Iterable[Any] | Mapping[Any, Any], labels: Collection[str] = ()
) -> tuple[Criterion, ...]:
    """All criteria of a `criteria` list, or of a mapping of messages to criteria."""
    if isinstance(config, Mapping):
        return tuple(parse({message: item}, labels) for message, item in config.items())
    if isinstance(config, str):
        raise CriterionError(config, "criteria", config, "a text", "write a list, one item a line")
    return tuple(parse(item, labels) for item in config)


def parse(item: object, labels: Collection[str] = ()) -> Criterion:
    """One criterion: text, `{message: text}`, or a dictionary of Taurus's fields.

    labels are the plan's: they show where a label ends that holds ':', ',', '>' or ' of '. Raises
    CriterionError.
    """
    message = None
    if isinstance(item, Mapping) and len(item) == 1 and next(iter(item)) not in FIELDS:
        message, item = next(iter(item.items()))
    if isinstance(item, str):
        fields = split(item.strip(), labels)
    elif isinstance(item, Mapping):
        fields = _from_mapping(item)
    else:
        raise CriterionError(str(item), "criterion", item, "neither text nor a dictionary")
    fields["message"] = message or fields.get("message")
    return _build(fields)


def is_about(item: object, is_of_kind: Callable[[Criterion], bool], unreadable: bool) -> bool:
    """Whether a criterion as it is written is of some kind. unreadable: the answer for one that
    can't be read, which is refused later."""
    try:
        return is_of_kind(parse(item))
    except CriterionError:
        return unreadable


def _from_mapping(item: Mapping[Any, Any]) -> dict[str, Any]:
    name = str(dict(item))
    unknown = sorted(str(key) for key in item if key not in FIELDS)
    if "class" in unknown:
        raise CriterionError(name, "class", item["class"], "only criteria on samples are judged")
    if unknown:
        raise CriterionError(name, "field", unknown[0], "unknown", f"known are {', '.join(FIELDS)}")
    for field in ("stop", "fail"):
        if not isinstance(item.get(field, True), bool):
            raise CriterionError(name, field, item[field], "neither true nor false")
    fields = {key: value for key, value in item.items() if value is not None}
    fields.setdefault("logic", "for")
    if str(fields.get("timeframe", 0)) in ("0", ""):
        fields.pop("timeframe", None)
    return fields


def _build(fields: Mapping[str, Any]) -> Criterion:
    text = _canonical(fields)
    try:
        subject = read_subject(fields.get("subject"), required=True)
        condition = read_condition(fields.get("condition"))
        threshold, is_percent = read_threshold(subject, condition, fields.get("threshold"))
        label = read_label(subject.name, str(fields.get("label") or ""))
        refuse_window(subject.name, fields.get("timeframe"))
        timeframe = read_window(fields.get("timeframe"), fields.get("logic", "for"))
    except ValueError as error:
        field, value, problem, step = error.args
        raise CriterionError(text, field, value, problem, step) from None
    window = {"timeframe": f"{timeframe}s"} if timeframe else {}
    same = {"subject": subject.name, "label": label, "condition": condition}
    text = _canonical({**fields, **same, **window})
    return Criterion(
        subject=subject.name,
        percentile=subject.percentile,
        label=label,
        condition=condition,
        threshold=threshold,
        is_percent=is_percent,
        unit="%" if is_percent else subject.unit,
        logic=fields.get("logic", "for") if timeframe else None,
        timeframe_s=timeframe,
        stop=fields.get("stop", True),
        fail=fields.get("fail", True),
        message=fields.get("message"),
        text=text,
    )


def _canonical(fields: Mapping[str, Any]) -> str:
    """`p95 of search>250ms for 10s, continue as failed`, without what is the default anyway."""
    label = f" of {fields['label']}" if fields.get("label") else ""
    text = f"{fields.get('subject', '')}{label}{fields.get('condition', '')}"
    text += str(fields.get("threshold", ""))
    if fields.get("timeframe"):
        text += f" {fields.get('logic', 'for')} {fields['timeframe']}"
    action = "stop" if fields.get("stop", True) else "continue"
    outcome = "failed" if fields.get("fail", True) else "non-failed"
    is_default = (action, outcome) == ("stop", "failed")
    return text if is_default else f"{text}, {action} as {outcome}"
