"""The language in which an Open Model Thread Group is given its schedule.

Source: JMeter's manual, Component Reference, "Open Model Thread Group"; what it leaves open (case,
abbreviated units, comments, sums of durations) follows JMeter 5.6.3's own parser.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BLANK = re.compile(r"(?:\s+|/\*(?:(?!\*/).)*\*/)|//[^\n\r]*[\n\r]*")
_TOKEN = re.compile(r"[()/]|\d+(?:\.\d+)?|\.\d+|[A-Za-z][A-Za-z0-9_]*")
_UNITS = (("ms", 0.001), ("sec", 1.0), ("min", 60.0), ("hour", 3600.0), ("day", 86400.0))


class ScheduleError(ValueError):
    """The schedule's text is one that JMeter refuses; the message says where and why."""


@dataclass(frozen=True)
class RateStep:
    """From here on, arrivals per second."""

    per_second: float


@dataclass(frozen=True)
class Arrivals:
    """Arrivals for some seconds, evenly spaced or at random moments."""

    duration_s: float
    even: bool


Step = RateStep | Arrivals


def parse_schedule(text: str) -> tuple[Step, ...]:
    """Parse e.g. `rate(10/sec) random_arrivals(2 min) pause(5 s)`; a bare number is JMeter's
    validation mode: so many arrivals in the first second and an hour to finish them."""
    if re.fullmatch(r"[+-]?\d+", text):
        rate = float(text)
        return (
            RateStep(rate),
            Arrivals(1.0, True),
            RateStep(rate),
            RateStep(0.0),
            Arrivals(3600.0, True),
        )
    return _Parser(text).steps()


def random_arrivals(begin: str, end: str, seconds: str) -> str:
    """A step of these rates and this length, as a plan has it. A rate behind arrivals is one that
    they ramp to, so each step states both of its own."""
    return f"rate({begin}/sec) random_arrivals({seconds} sec) rate({end}/sec)"


def decimal(value: float, digits: int = 12) -> str:
    """Plain digits: JMeter's parser knows no exponents."""
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0

    def steps(self) -> tuple[Step, ...]:
        steps: list[Step] = []
        rate = RateStep(0.0)
        while self._next < len(self._tokens):
            name = self._take("rate, random_arrivals, even_arrivals or pause")
            self._expect("(")
            match name:
                case "rate":
                    rate = RateStep(self._rate())
                    steps.append(rate)
                case "random_arrivals" | "even_arrivals":
                    steps.append(Arrivals(self._duration(), name == "even_arrivals"))
                case "pause":
                    pause = Arrivals(self._duration(), True)
                    steps += [rate, RateStep(0.0), pause, RateStep(0.0), rate]
                case _:
                    raise self._error("rate, random_arrivals, even_arrivals or pause", back=2)
            self._expect(")")
        return tuple(steps)

    def _rate(self) -> float:
        number = self._number("a number for the rate")
        if number == 0 and self._peek() == ")":
            return 0.0
        self._expect("/", "per")
        return number / self._unit()

    def _duration(self) -> float:
        total = 0.0
        while True:
            number = self._number("a number for the duration")
            if number == 0 and self._peek() == ")":
                return total
            total += number * self._unit()
            if not (self._peek()[:1].isdigit() or self._peek().startswith(".")):
                return total

    def _unit(self) -> float:
        name = self._take("a unit: ms, sec, min, hour or day")
        for unit, seconds in _UNITS:
            if name == unit or (unit != "ms" and (name == unit[0] or name.startswith(unit))):
                return seconds
        raise self._error("a unit: ms, sec, min, hour or day", back=1)

    def _number(self, expected: str) -> float:
        token = self._take(expected)
        if not token[0].isdigit() and token[0] != ".":
            raise self._error(expected, back=1)
        return float(token)

    def _peek(self) -> str:
        return self._tokens[self._next][0] if self._next < len(self._tokens) else ""

    def _take(self, expected: str) -> str:
        if self._next >= len(self._tokens):
            raise self._error(expected)
        self._next += 1
        return self._tokens[self._next - 1][0]

    def _expect(self, *choices: str) -> None:
        if self._take(choices[0]) not in choices:
            raise self._error(" or ".join(choices), back=1)

    def _error(self, expected: str, back: int = 0) -> ScheduleError:
        place = self._next - back
        where = self._tokens[place][1] if place < len(self._tokens) else len(self._text)
        found = repr(self._text[where : where + 20]) if self._text[where:] else "the end"
        return ScheduleError(f"expected {expected} at character {where + 1}, found {found}")


def _tokens(text: str) -> list[tuple[str, int]]:
    """Return (token in lower case, position) for each token, without blanks and comments."""
    found: list[tuple[str, int]] = []
    at = 0
    while at < len(text):
        if blank := _BLANK.match(text, at):
            at = blank.end()
        elif token := _TOKEN.match(text, at):
            found.append((token[0].lower(), at))
            at = token.end()
        else:
            raise ScheduleError(f"character {at + 1}, {text[at]!r}, has no place in a schedule")
    return found
