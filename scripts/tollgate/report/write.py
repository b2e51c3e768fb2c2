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
    spans = {
        planned.name: (planned.began, planned.ended or planned.began)
        for planned in manifest.executions
        if planned.began
    }
    atomic.write(folder / "junit.xml", to_junit(verdict, manifest.kind, spans))
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


def append_summary(folder: Path, verdict: RunVerdict, kind: str) -> None:
    """Add the Markdown to a GitHub job's page, and the verdict and its files to the outputs of its
    step, where there is one."""
    _append(to_markdown(verdict, kind))
    files = {"folder": folder, "page": folder / "index.html", "junit": folder / "junit.xml"}
    outputs = {"verdict": verdict.verdict} | {name: it.resolve() for name, it in files.items()}
    _append("".join(f"{name}={it}\n" for name, it in outputs.items()), "GITHUB_OUTPUT")


def _append(text: str, variable: str = "GITHUB_STEP_SUMMARY") -> None:
    """To the file that a variable of GitHub's names. One that can't be written to is reported, and
    changes neither the verdict nor the exit code."""
    named = os.environ.get(variable)
    if not named:
        return
    try:
        with Path(named).open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as problem:
        print(
            f"tollgate: {variable} is {named!r}, which can't be written to "
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
