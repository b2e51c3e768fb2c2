"""Copies of the project in which tests run bzt: a checkout has one run at a time."""

import atexit
import functools
import os
import shlex
import shutil
import tempfile
from pathlib import Path

import support
from support.git_repos import Repo

#: What is installed is shared, what a run leaves is not.
LEFT_OUT = (".git", "node_modules", ".venv", ".tollgate", "reports", "modified_*", "__pycache__")
LEFT_OUT += (".*_cache", ".hypothesis")


def copy_project(root):
    """Write the project to this folder, which must not exist, with links to what is installed."""
    shutil.copytree(support.ROOT, root, ignore=shutil.ignore_patterns(*LEFT_OUT))
    (root / "node_modules").symlink_to(support.ROOT / "node_modules")
    (root / ".tollgate").mkdir()
    (root / ".tollgate" / "tools").symlink_to(support.ROOT / ".tollgate" / "tools")
    link_environment(root)
    # It would install anew, into what is shared, if it were asked in another folder.
    (root / "scripts" / "bootstrap").write_text("#!/bin/sh\n")
    return root


def link_environment(root):
    """Give a copy the environment that is installed, with commands of the copy's own code."""
    theirs, ours = support.ROOT / ".venv", root / ".venv"
    (ours / "bin").mkdir(parents=True)
    for each in (*(theirs / it for it in ("lib", "include", "pyvenv.cfg")), *theirs.glob("bin/*")):
        (ours / each.relative_to(theirs)).symlink_to(each)
    written = {"activate": f"PATH={shlex.quote(str(ours / 'bin'))}:$PATH\n"}
    start = f"#!{theirs}/bin/python\nimport sys\nsys.path.insert(0, {str(root / 'scripts')!r})\n"
    for name in ("bzt", "tollgate"):
        written[name] = f"{start}from tollgate.cli.start import {name}\n{name}()\n"
    for name, text in written.items():
        command = ours / "bin" / name
        command.unlink()
        command.write_text(text)
        command.chmod(0o755)


@functools.cache
def own_project():
    """The project itself, or this process's copy of it, with a commit, where tests run several at a
    time."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return support.ROOT
    folder = tempfile.mkdtemp(prefix="tollgate-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = copy_project(Path(folder) / "tollgate")
    history = Repo(made)
    history.git("init", "--quiet", "--initial-branch=main")
    history.git("add", "--all")
    history.git("commit", "--quiet", "--message", "all of it")
    return made


def new_target(root, *words):
    """What `tollgate new target` says in a copy: its exit code, standard output and error."""
    command = (root / ".venv" / "bin" / "tollgate", "new", "target", *words)
    return support.run(*command, cwd=root, env=support.environment())
