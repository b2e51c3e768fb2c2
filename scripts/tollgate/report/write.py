"""Writes a verdict where programs, people and CI systems look for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tollgate.base import atomic
from tollgate.compare.profile.model import Why
from tollgate.judge.facts import MeasuredRun
from tollgate.judge.verdicts import RunVerdict
from tollgate.record.manifest import Manifest
from tollgate.report import json_verdict
from tollgate.report.console import verdict_table
from tollgate.report.json_model import to_json as to_text
from tollgate.report.junit import to_junit
from tollgate.report.markdown import to_markdown, why_section


def write_all(folder: Path, verdict: RunVerdict, run: MeasuredRun, manifest: Manifest) -> None:
    """verdict.json, junit.xml and verdict.md, each whole or not at all."""
    markdown = to_markdown(verdict, manifest.kind)
    atomic.write(folder / "verdict.json", to_json(verdict, run, manifest))
    atomic.write(folder / "junit.xml", to_junit(verdict, manifest.kind))
    atomic.write(folder / "verdict.md", markdown)


def to_json(verdict: RunVerdict, run: MeasuredRun, manifest: Manifest) -> str:
    """The text of verdict.json."""
    return to_text(json_verdict.to_dict(verdict, run, manifest.kind, manifest.environment))


def append_why(folder: Path, why: Why) -> None:
    """Add what a profile says to verdict.md, and to a GitHub job's page."""
    markdown = "\n" + why_section(why)
    path = folder / "verdict.md"
    atomic.write(path, path.read_text(encoding="utf-8") + markdown)
    _append(markdown)


def append_summary(verdict: RunVerdict, kind: str) -> None:
    """Add the Markdown to a GitHub job's page, where there is one."""
    _append(to_markdown(verdict, kind))


def _append(markdown: str) -> None:
    """A page that can't be written to is reported, and changes neither the verdict nor the exit
    code."""
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if not summary:
        return
    try:
        with Path(summary).open("a", encoding="utf-8") as page:
            page.write(markdown)
    except OSError as problem:
        print(
            f"tollgate: GITHUB_STEP_SUMMARY is {summary!r}, which can't be written to "
            f"({problem.strerror}): the verdict stands in the run's folder alone",
            file=sys.stderr,
            flush=True,
        )


def show(verdict: RunVerdict) -> None:
    """Print the table, in colour on a terminal unless NO_COLOR is set."""
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    text = verdict_table(verdict, colour)
    encoding = sys.stdout.encoding or "ascii"
    print(text.encode(encoding, errors="replace").decode(encoding), flush=True)
