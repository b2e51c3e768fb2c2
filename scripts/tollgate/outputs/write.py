"""Writes a verdict where programs, people and CI systems look for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tollgate.base import atomic
from tollgate.judge import Run, Verdict
from tollgate.outputs import console as table
from tollgate.outputs import junit as render
from tollgate.run import Manifest


def write_all(folder: Path, verdict: Verdict, run: Run, manifest: Manifest) -> None:
    """verdict.json, junit.xml and verdict.md, each whole or not at all."""
    markdown = render.to_markdown(verdict, manifest.kind)
    atomic.write(folder / "verdict.json", to_json(verdict, run, manifest))
    atomic.write(folder / "junit.xml", render.to_junit(verdict, manifest.kind))
    atomic.write(folder / "verdict.md", markdown)


def to_json(verdict: Verdict, run: Run, manifest: Manifest) -> str:
    """The text of verdict.json."""
    return render.to_json(render.to_dict(verdict, run, manifest.kind, manifest.environment))


def append_summary(markdown: str) -> None:
    """Add the summary to a GitHub job's page, where there is one. What can't be written is told,
    and changes neither the verdict nor the exit code."""
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


def show(verdict: Verdict) -> None:
    """Print the table, in colour on a terminal unless NO_COLOR is set."""
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    text = table.to_table(verdict, colour)
    encoding = sys.stdout.encoding or "ascii"
    print(text.encode(encoding, errors="replace").decode(encoding), flush=True)
