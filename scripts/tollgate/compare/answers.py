"""What base and head answered in a rehearsal, before anything is measured, and what follows. Pure.

- What base does not answer rightly can't be compared: the run ends.
- A label that head alone answers is new. It is left out by name.
- One that base answers and head does not is compared as it is: its errors are a FAIL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tollgate.base.urls import Url, place_of
from tollgate.compare.model import Requests
from tollgate.compare.pace import Cost

#: Answers of a process from which all of them wrong are no accident.
FEWEST = 2
#: Of a side's answers; where more are wrong, it does not answer rightly.
MOST_WRONG = 0.5


class AnswersError(Exception):
    """One line: what base does not answer rightly."""


@dataclass(frozen=True)
class Answer:
    """One answer. coin: the process that gave it, even numbers are base's. start_ms: since the
    epoch. said: its code and what is wrong with it."""

    label: str
    coin: int
    start_ms: int
    elapsed_ms: int
    ok: bool
    url: str
    said: str

    @property
    def end_ms(self) -> int:
        return self.start_ms + self.elapsed_ms

    @classmethod
    def of(cls, row: Mapping[str, str | None]) -> Answer | None:
        """Of a row of a JTL; None of one that is not whole."""
        try:
            coin, start_ms, elapsed_ms = (int(row[it]) for it in ("coin", "timeStamp", "elapsed"))
            message = f"{row['responseCode']} {row.get('failureMessage') or row['responseMessage']}"
            url, is_ok = row.get("URL") or "its URL", row["success"] == "true"
            message = " ".join(message.split())
            return cls(row["label"], coin, start_ms, elapsed_ms, is_ok, url, message)
        except (KeyError, TypeError, ValueError):
            return None


@dataclass(frozen=True)
class Found:
    """left_out: labels that head alone answers. broken: those that base alone answers, a line
    each."""

    left_out: tuple[str, ...]
    broken: tuple[str, ...]


@dataclass(frozen=True)
class Rehearsal:
    """answers: all that came. cost: of what arrives in a period; None where the CPU time of the
    services can't be seen. problem: why nothing is known."""

    answers: tuple[Answer, ...] = ()
    cost: Cost | None = None
    problem: str = ""


def judge(answers: Collection[Answer], labels: Sequence[str]) -> Found:
    """What the answers say of each label that was asked. Raises AnswersError."""
    left_out, broken = [], []
    for label in labels:
        own = [it for it in answers if it.label == label]
        base, head = ([it for it in own if it.coin % 2 == side] for side in (0, 1))
        wrong = _wrong(base)
        if wrong is None:
            if (worse := _wrong(head)) and base:
                broken.append(f"head does not answer {label!r} rightly: {_text(worse)}")
        elif head and _wrong(head) is None and not any(it.ok for it in base):
            left_out.append(label)
        else:
            too = ", and neither does head" if _wrong(head) else ""
            raise AnswersError(f"base does not answer {label!r} rightly{too}: {_text(wrong)}")
    return Found(tuple(left_out), tuple(broken))


def refuse_strays(answers: Iterable[Answer], labels: Collection[str], sides: Sequence[Url]) -> None:
    """Raise AnswersError where a request of these labels went to no process of base or head: of a
    path that is a whole URL, JMeter takes the host from there."""
    places = {(url.host.lower(), url.port) for url in sides}
    for answer in answers:
        if answer.label in labels and place_of(answer.url) not in places:
            raise AnswersError(
                f"{answer.label!r} went to {answer.url}, and neither to base nor to head: its path "
                "is a variable that holds a whole URL: leave the path in it, and write the host "
                "into Server Name or IP"
            )


def times(answers: Iterable[Answer], labels: Collection[str]) -> dict[str, Requests]:
    """The times of the right answers of each label that has any, of both sides together, with their
    URLs as rows. Of the later half alone: the others came while processes and JMeter warmed up."""
    times = {}
    for label in labels:
        own = [it for it in answers if it.label == label and it.ok]
        own = own[len(own) // 2 :]
        _, row = np.unique([it.url.split("/", 3)[-1] for it in own], return_inverse=True)
        if own:
            elapsed_ms = np.array([it.elapsed_ms for it in own], np.int64)
            times[label] = Requests(np.zeros(len(own), np.int64), row.astype(np.int64), elapsed_ms)
    return times


def _wrong(side: Collection[Answer]) -> Answer | None:
    """A wrong answer of a side that does not answer rightly, as a whole or by one process."""
    wrong = [it for it in side if not it.ok]
    if len(wrong) > MOST_WRONG * len(side):
        return wrong[0]
    answered, failed = (Counter(it.coin for it in of) for of in (side, wrong))
    return next((it for it in wrong if failed[it.coin] == answered[it.coin] >= FEWEST), None)


def _text(answer: Answer) -> str:
    return f"{answer.url} gave {answer.said}"
