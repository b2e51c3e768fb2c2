"""The text of a criterion, taken apart from both ends; and the refusal that names a field."""

from __future__ import annotations

import re
from collections.abc import Collection

from tollgate.criteria.subjects import read_subject

HEAD = re.compile(r"\s*(?P<subject>\S+?)(\s+of\s+(?P<label>.*\S))?\s*", re.DOTALL)
ACTION = re.compile(r"(stop|continue)(?:\s+as\s+(failed|non-failed))?")
TAIL = re.compile(r"(?P<threshold>\S+)(\s+(?P<logic>for|within|over)\s+(?P<timeframe>\S+))?")


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
        super().__init__(" ".join(line.split()))


def split(text: str, labels: Collection[str]) -> dict:
    """The fields of a criterion's text, read from both ends, so that a label may hold anything."""
    found = re.search(r"([<>=]+)([^<>=]*)$", text)
    if not found:
        step = "write it as 'p95 of search>250ms'"
        raise CriterionError(text, "condition", "", "no <, <=, >, >= or = is in it", step)
    head, condition = text[: found.start()], found[1]
    rest, comma, action = found[2].strip().partition(",")
    fields = {"condition": condition, **_split_action(text, action.strip(), comma)}
    tail = TAIL.fullmatch(rest.strip())
    if not tail:
        step = (
            "write '250ms' without a space, and a window as 'for 10s', 'within 10s' or 'over 10s'"
        )
        raise CriterionError(text, "threshold", rest.strip(), "not a threshold and a window", step)
    fields |= {key: value for key, value in tail.groupdict().items() if value}
    return fields | _split_head(text, head, labels)


def _split_action(text: str, action: str, comma: str) -> dict:
    if not comma:
        return {}
    found = ACTION.fullmatch(action)
    if not found:
        step = "write 'stop as failed', 'continue as failed', 'stop as non-failed' or the like"
        raise CriterionError(text, "action", action, "unknown", step)
    return {"stop": found[1] == "stop", "fail": found[2] != "non-failed"}


def _split_head(text: str, head: str, labels: Collection[str]) -> dict:
    """Message, subject and label: each ':' may end the message or belong to the label."""
    readings = []
    for at in [-1, *(index for index, char in enumerate(head) if char == ":")]:
        found = HEAD.fullmatch(head[at + 1 :])
        if found and read_subject(found["subject"]):
            message = head[:at].strip() if at >= 0 else None
            readings.append({"message": message, **found.groupdict(default="")})
    known = [reading for reading in readings if reading["label"] in labels]
    if len(known) == 1 or len(readings) == 1:
        return (known or readings)[0]
    if not readings:
        found = HEAD.fullmatch(head.rpartition(":")[2])
        subject = found["subject"] if found else head.strip()
        # Refused with the nearest name when the subject is read.
        return {"subject": subject, "label": (found and found["label"]) or ""}
    step = "write it as a dictionary with subject, label, condition and threshold"
    labels_read = " or ".join(repr(reading["label"]) for reading in readings)
    raise CriterionError(text, "label", labels_read, "a ':' can be read in more ways", step)
