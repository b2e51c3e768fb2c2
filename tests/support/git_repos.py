"""Real git repositories with a small service in them, for what compares revisions."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tollgate.targets.git import environment

#: No settings of the machine's, and somebody who commits.
IDENTITY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}
SERVER = "app/server.js"


@dataclass
class Repo:
    """A checkout."""

    root: Path

    def git(self, *arguments):
        """What git prints; a refusal fails the test."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env=environment(**IDENTITY),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"git {arguments}: {done.stderr}"
        return done.stdout.strip()

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def commit(self, text, path=SERVER):
        """Commit a file with this text; returns the SHA."""
        self.write(path, text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", text[:20])
        return self.git("rev-parse", "HEAD")

    def clone(self, into, *options):
        self.git("clone", "--quiet", *options, self.root.as_uri(), str(into))
        return Repo(into)

    def state(self):
        """All that a comparison must leave as it was: branches, index, files, worktrees."""
        asked = (
            ("for-each-ref",),
            ("symbolic-ref", "--quiet", "HEAD"),
            ("status", "--porcelain", "--ignored"),
            ("worktree", "list"),
            ("ls-files", "--stage", "--debug"),
        )
        return tuple(self.git(*each) for each in asked)


def repo(root):
    """One with a first commit on main."""
    root.mkdir(parents=True)
    made = Repo(root)
    made.git("init", "--quiet", "--initial-branch=main")
    made.commit("first")
    return made
