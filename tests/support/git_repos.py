"""Real git repositories with a small service in them, for what compares revisions."""

import os
from dataclasses import dataclass
from pathlib import Path

import support
from tollgate.targets.git import environment

#: No settings of the machine's, and somebody who commits.
IDENTITY = {
    **{"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
    **{f"GIT_{who}_NAME": "a" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "a@example.org" for who in ("AUTHOR", "COMMITTER")},
}
SERVER = "app/server.js"


@dataclass
class Repo:
    """A checkout."""

    root: Path

    def git(self, *arguments):
        """What git prints; a refusal fails the test."""
        done = support.run("git", *arguments, cwd=self.root, env=environment(**IDENTITY))
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
