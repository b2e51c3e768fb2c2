"""A run's folder with the verdict on it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tollgate.gather import evidence
from tollgate.judge.facts import JudgeSettings, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.judge.verdicts import RunVerdict
from tollgate.record import manifest


@dataclass(frozen=True)
class Judged:
    """A run with the verdict on it."""

    record: manifest.Manifest
    run: MeasuredRun
    settings: JudgeSettings
    verdict: RunVerdict


def judged(run: Path, record: manifest.Manifest | None = None) -> Judged:
    """From a run's folder. record: in place of the folder's own. Raises what evidence.gather
    does."""
    record = record or manifest.read(run)
    facts, settings = evidence.gather(run, record)
    return Judged(record, facts, settings, judge(facts, settings))
