"""Calls git in the project's checkout, without its hooks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

#: What would make git look at another repository or another index than the checkout's own; git
#: itself sets it for hooks, from which somebody may well call a comparison.
_ELSEWHERE = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE"),
)
_QUIET = ("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false")


class GitError(Exception):
    """One line: what git can't do here, and what to do."""


def command(*arguments: str) -> list[str]:
    """A call of git that runs no hook."""
    return ["git", *_QUIET, *arguments]


def environment(**more: str) -> dict[str, str]:
    """The caller's, for git to speak English and to look at the checkout that it is called in."""
    kept = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    return {**kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", **more}


def ask(root: Path, *arguments: str) -> str | None:
    """What git answers in a folder, without the line break at its end; None where it says no.
    Raises GitError where there is no git."""
    return _answer(_run(root, *arguments))


def demand(root: Path, *arguments: str) -> str:
    """What git answers in a folder. Raises GitError where it says no."""
    done = _run(root, *arguments)
    answer = _answer(done)
    if answer is None:
        raise GitError(f"`git {arguments[0]}` failed in {root}: {said(done.stderr)}")
    return answer


def said(text: str) -> str:
    """What git gave as the reason, in one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reasons = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return (reasons or lines or ["it gave no reason"])[0]


def _run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command(*arguments),
            cwd=root,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError:
        raise GitError(
            "git is not on PATH, and the base comes out of git: install it, or compare what runs "
            "elsewhere with BASE_URL and HEAD_URL"
        ) from None


def _answer(done: subprocess.CompletedProcess[str]) -> str | None:
    return done.stdout.rstrip("\n") if done.returncode == 0 else None
