"""The colour in which a page shows an answer. Pure."""

from __future__ import annotations

from tollgate.compare.model import IMPROVED
from tollgate.forecast.check import HELD, MISSED
from tollgate.judge.verdicts import FAIL, INVALID, PASS
from tollgate.study.words import AGREES, DISAGREES

WORSE, BETTER, MOVED = "worse", "better", "moved"
_TONES = dict.fromkeys((PASS, IMPROVED, AGREES, HELD, BETTER), "good")
_TONES |= dict.fromkeys((FAIL, INVALID, DISAGREES, MISSED, WORSE), "bad")


def tone(answer: str) -> str:
    """`good`, `bad` or `unsure`: a CSS class. Of `PASS, improved` what comes first counts."""
    return _TONES.get(answer.partition(",")[0], "unsure")
