"""A comparison as rows of the console's table. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tollgate.base import one_line
from tollgate.compare import FAIL, IMPROVED, INCONCLUSIVE, Comparison, Finding
from tollgate.compare import words as told
from tollgate.outputs.text import shorten

HEADINGS = ("", "head against base", "base", "head", "change", "at least", "at most")
#: The worst first; what has no say last.
_ORDER = (FAIL, INCONCLUSIVE, IMPROVED)
_LABEL_WIDTH = 48


def rows(comparison: Comparison) -> list[tuple[Finding, tuple[str, ...]]]:
    """Each finding with its cells, in the order in which they are shown."""
    # Python's sort is stable: within one verdict they stay in the order of the plan.
    findings = sorted(comparison.gate.findings, key=_importance)
    return [(each, _cells(each, comparison)) for each in findings]


def above(comparison: Comparison) -> Sequence[str]:
    """Which code was compared."""
    return tuple(told.sides(comparison.record))


def below(comparison: Comparison) -> Sequence[str]:
    """How it was decided; of base against itself, what noise there was."""
    noise = tuple(told.noise(comparison)) if comparison.is_control else ()
    return (told.course(comparison), *noise)


def _importance(finding: Finding) -> int:
    if not finding.gates:
        return len(_ORDER) + 1
    return _ORDER.index(finding.verdict) if finding.verdict in _ORDER else len(_ORDER)


def _cells(finding: Finding, comparison: Comparison) -> tuple[str, ...]:
    effect = told.effect_of(comparison, finding)
    return (
        finding.verdict if finding.gates else "note",
        shorten(one_line(told.name(finding)), _LABEL_WIDTH),
        *(told.value(finding, each) for each in (finding.base, finding.head)),
        *(
            told.change(finding, each, effect)
            for each in (finding.change, finding.low, finding.high)
        ),
    )
