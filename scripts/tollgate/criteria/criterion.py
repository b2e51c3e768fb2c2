"""Taurus's pass/fail criteria as objects: `p95 of search>250ms for 10s, continue as failed`.

The grammar and its meaning are those of Taurus 1.17 (bzt/modules/passfail.py), and a criterion
states when a run FAILS. What differs: wherever Taurus reads something other than what is written
(no unit means seconds, `p95>250 ms` loses its unit, `rc500 of x>=5` becomes label `x>` and `=`,
an action with a typo is dropped) this reader reads what is written or refuses with a reason.

Beside Taurus's subjects there are those on the target's workers and on slopes, which Taurus never
sees: criteria_resources.py says what they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from tollgate.criteria.grammar import CriterionError, split
from tollgate.criteria.subjects import (
    LATENCY_SLOPE,
    WORKER_SUBJECTS,
    Subject,
    read_condition,
    read_label,
    read_subject,
    refuse_window,
)
from tollgate.criteria.thresholds import read_threshold, read_window

FIELDS = (
    *("subject", "label", "condition", "threshold", "timeframe"),
    *("logic", "stop", "fail", "message"),
)


@dataclass(frozen=True)
class Criterion:
    """When a run fails. Thresholds are in `unit`: ms, bytes, users, count, percent (is_percent:
    of the requests), or a unit of criteria_resources.

    label '' means all samplers together; that of a criterion on workers is `worker`. logic and
    timeframe_s are None for a criterion on the whole run. text is the same for every way to write
    the same criterion, and names it in reports.
    """

    subject: str
    percentile: float | None
    label: str
    condition: str
    threshold: float
    is_percent: bool
    unit: str
    logic: str | None
    timeframe_s: int | None
    stop: bool
    fail: bool
    message: str | None
    text: str
    threshold_text: str

    @property
    def is_of_workers(self) -> bool:
        """Whether it is about the target's workers, not about samples."""
        return self.subject in WORKER_SUBJECTS

    @property
    def is_latency(self) -> bool:
        """Whether its threshold is a time that answers took, from whenever they count."""
        return self.may_respond and not self.is_latency_slope

    @property
    def is_latency_slope(self) -> bool:
        return self.unit == LATENCY_SLOPE

    @property
    def may_respond(self) -> bool:
        """Whether the response time can be judged in place of the service time."""
        return self.percentile is not None or self.subject in ("avg-rt", "stdev-rt")

    @property
    def can_stop_early(self) -> bool:
        """Taurus checks only criteria with a window while the run goes on."""
        return self.stop and self.timeframe_s is not None

    def as_taurus(self) -> dict:
        """The dictionary form, which Taurus reads without splitting text."""
        window = {"logic": self.logic, "timeframe": f"{self.timeframe_s}s"} if self.logic else {}
        return {
            "subject": self.subject,
            "label": self.label,
            "condition": self.condition,
            "threshold": self.threshold_text,
            "stop": self.stop,
            "fail": self.fail,
            "message": self.message,
            **window,
        }


def parse_all(config: Iterable | Mapping, labels: Collection[str] = ()) -> tuple[Criterion, ...]:
    """All criteria of a `criteria` list, or of a mapping of messages to criteria."""
    if isinstance(config, Mapping):
        return tuple(parse({message: item}, labels) for message, item in config.items())
    if isinstance(config, str):
        raise CriterionError(config, "criteria", config, "a text", "write a list, one item a line")
    return tuple(parse(item, labels) for item in config)


def parse(item: str | Mapping, labels: Collection[str] = ()) -> Criterion:
    """One criterion: text, `{message: text}`, or a dictionary of Taurus's fields.

    labels are the plan's: they tell where a label ends that holds ':', ',', '>' or ' of '. Raises
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


def _from_mapping(item: Mapping) -> dict:
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


def _build(fields: Mapping) -> Criterion:
    text = _canonical(fields)
    try:
        subject: Subject = read_subject(fields.get("subject"), required=True)
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
        threshold_text=str(fields.get("threshold")),
    )


def _canonical(fields: Mapping) -> str:
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
