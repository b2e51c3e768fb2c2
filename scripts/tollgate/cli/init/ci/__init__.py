"""The file with which a CI system runs the suite, for the system in use.

The templates run a service called `meadow` in a folder `pasture`. Where Tollgate comes from is
known if pip had it from a URL; otherwise the line is marked as guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

from tollgate.targets.packages import INSTALLERS

TEMPLATES = Path(__file__).with_name("templates")
#: Where each template is written to, in the repository. No system reads the last two by itself.
PLACES = {
    "github.yml": ".github/workflows/tollgate.yml",
    "gitlab.yml": ".gitlab/tollgate.yml",
    "Jenkinsfile": ".ci/tollgate.Jenkinsfile",
}
_REPOSITORY, _WHEEL = "OWNER/tollgate", "tollgate-VERSION-py3-none-any.whl"
_GUESSED = re.compile(r" (#|//) guessed: .*")


def in_use(repository: Path) -> list[str]:
    """The templates of the CI systems that a repository has files or a remote of; GitHub's where
    there is none."""
    try:
        remotes = (repository / ".git" / "config").read_text(encoding="utf-8", errors="replace")
    except OSError:
        remotes = ""
    marks = {
        "github.yml": (repository / ".github").is_dir() or "github.com" in remotes,
        "gitlab.yml": (repository / ".gitlab-ci.yml").is_file() or "gitlab" in remotes,
        "Jenkinsfile": (repository / "Jenkinsfile").is_file(),
    }
    return [name for name, there in marks.items() if there] or ["github.yml"]


def files(
    repository: Path,
    suite: Path,
    service: str,
    secrets: Iterable[str] = (),
    direct_url: str | None = None,
) -> dict[str, str]:
    """The text of the file of each CI system in use, by its path in the repository.

    suite: the folder of taurus.yml. service: the one that is checked and compared. secrets: the
    variables that it needs. direct_url: what pip has written down of where it had Tollgate from
    (PEP 610); by default looked up.
    """
    repository, suite = repository.resolve(), suite.resolve()
    folder = suite.relative_to(repository).as_posix()
    # That of a workspace lies above its packages.
    above = [it for it in (suite, *suite.parents) if it.is_relative_to(repository)]
    lock = next((it for at in above for it in INSTALLERS if (at / it).is_file()), "")
    install = " ".join(it for it in INSTALLERS.get(lock, ()) if it != "--prefer-offline")
    if direct_url is None:
        direct_url = metadata.distribution("tollgate").read_text("direct_url.json")
    known = _known(direct_url or "{}")
    version = metadata.version("tollgate")
    texts = {}
    for name in in_use(repository):
        text = _filled((TEMPLATES / name).read_text(encoding="utf-8"), folder, install, known)
        text = _with_secrets(text, tuple(secrets))
        texts[PLACES[name]] = text.replace("meadow", service).replace("VERSION", version)
    return texts


def _filled(template: str, folder: str, install: str, known: dict[str, str]) -> str:
    lines = template.splitlines()
    if not install:
        lines = [it for it in lines if "INSTALL" not in it]
    if folder == ".":
        left_out = ("folder: pasture", "- cd pasture")
        lines = [it for it in lines if it.strip() not in left_out]
        lines = [re.sub(r"cd pasture && | -C pasture|pasture/", "", it) for it in lines]
    for guess, what in known.items():
        lines = [_GUESSED.sub("", it).replace(guess, what) if guess in it else it for it in lines]
    return "\n".join(lines).replace("INSTALL", install).replace("pasture", folder) + "\n"


def _with_secrets(text: str, secrets: Sequence[str]) -> str:
    lines = []
    for line in text.splitlines(keepends=True):
        lines += [line.replace("SECRET", it) for it in secrets] if "SECRET" in line else [line]
    return "".join(it for it in lines if secrets or it != "    env:\n")


def _known(direct_url: str) -> dict[str, str]:
    """What stands for a guess of a template, where pip had Tollgate from a URL that says it."""
    written = json.loads(direct_url)
    url = urlsplit(str(written.get("url", "")))
    if url.scheme != "https" or url.query or url.username:
        return {}
    commit = written.get("vcs_info", {}).get("commit_id")
    if commit and url.hostname == "github.com":
        repository = url.path.strip("/").removesuffix(".git")
        return {f"{_REPOSITORY}/": f"{repository}/", "@vVERSION": f"@{commit}"}
    return {_WHEEL: url.geturl()} if url.path.endswith(".whl") else {}
