"""The file with which a CI system runs the suite, for the system in use.

The templates run a service called `meadow` in a folder `pasture`; what stands in braces is a word
of a shell, and a folder before `/reports/` begins a pattern of files. Each is written so that YAML,
Groovy, the shell and GitHub's expressions give the name back, whatever it is. Where Tollgate comes
from is known if pip had it from a URL, or the package names its repository; otherwise the line is
marked as guessed.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from tollgate.cli.init.commands import InitError
from tollgate.install import archive
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
_PLACEHOLDER = re.compile(
    r"\{-meadow\}|\{pasture(?:/reports)?\}|pasture(?=/reports/)|pasture|meadow"
)
#: A name that means the same wherever it stands.
_TAME = re.compile(r"\w[\w./-]*")
#: The beginning of a line of YAML, its value, and the colon of one that is a key.
_LINE = re.compile(r"(\s*(?:- )?(?:[\w-]+: )?)(.+?)(:?)")
_STRING = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")


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
    secrets = tuple(secrets)
    _check(service, folder, secrets)
    # That of a workspace lies above its packages.
    above = [it for it in (suite, *suite.parents) if it.is_relative_to(repository)]
    lock = next((it for at in above for it in INSTALLERS if (at / it).is_file()), "")
    install = " ".join(it for it in INSTALLERS.get(lock, ()) if it != "--prefer-offline")
    if direct_url is None:
        direct_url = metadata.distribution("tollgate").read_text("direct_url.json")
    source = _released(archive.repository()) | _known(direct_url or "{}")
    version = metadata.version("tollgate")
    texts = {}
    for name in in_use(repository):
        text = _chosen((TEMPLATES / name).read_text(encoding="utf-8"), folder, install, source)
        text = _with_secrets(text, secrets).replace("VERSION", version)
        texts[PLACES[name]] = _filled(name, text, service, folder)
    return texts


def _check(service: str, folder: str, secrets: Sequence[str]) -> None:
    """Raises InitError for a name that no file can hold."""
    for name in (service, folder):
        if not name.isprintable():
            raise InitError(f"{name!r} has a character that no file of CI can hold: rename it")
    for name in secrets:
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise InitError(f"environment: {name!r} is no name of a variable: rename it")


def _chosen(template: str, folder: str, install: str, known: dict[str, str]) -> str:
    """The lines that are needed, with what is known of Tollgate."""
    lines = template.splitlines()
    if not install:
        lines = [it for it in lines if "INSTALL" not in it]
    if folder == ".":
        left_out = ("folder: pasture", "- cd {pasture}")
        lines = [it for it in lines if it.strip() not in left_out]
        lines = [re.sub(r"cd {pasture} && | -C {pasture}|pasture/", "", it) for it in lines]
        lines = [it.replace("{reports}", "reports") for it in lines]
    for guess, what in known.items():
        lines = [_GUESSED.sub("", it).replace(guess, what) if guess in it else it for it in lines]
    return "\n".join(lines).replace("INSTALL", install) + "\n"


def _filled(template: str, text: str, service: str, folder: str) -> str:
    """The text of a template with its names."""
    folder = f"./{folder}" if folder.startswith("-") else folder
    names = {"meadow": service, "pasture": folder}
    if template == "github.yml":  # which evaluates what begins like this
        names = {key: it.replace("${{", "${{ '${{' }}") for key, it in names.items()}
    words = {
        "{-meadow}": shlex.quote(f"-{service}"),
        "{pasture}": shlex.quote(folder),
        "{pasture/reports}": shlex.quote(f"{folder}/reports"),
    }
    # Their patterns know `*`, and what else differs; all know `?` for any character.
    pattern = re.sub(r"[^\w./ -]|^ | $", "?", folder)
    is_tame = all(map(_TAME.fullmatch, (service, folder)))

    def value_of(placeholder: re.Match[str]) -> str:
        is_pattern = placeholder.string.startswith("/reports/", placeholder.end())
        return pattern if is_pattern else (words | names)[placeholder[0]]

    if template == "Jenkinsfile":
        return _STRING.sub(lambda match: _groovy(match[0], value_of), text)
    return re.sub(r".*(?:pasture|meadow).*", lambda match: _yaml(match[0], value_of, is_tame), text)


def _groovy(string: str, value_of: Callable[[re.Match[str]], str]) -> str:
    special = r"[\\$\"]" if string[0] == '"' else r"[\\']"
    escape = re.compile(special)
    return _PLACEHOLDER.sub(lambda match: escape.sub(r"\\\g<0>", value_of(match)), string)


def _yaml(line: str, value_of: Callable[[re.Match[str]], str], is_tame: bool) -> str:
    begin, template, colon = _LINE.fullmatch(line).groups()
    value = _PLACEHOLDER.sub(value_of, template)
    is_plain = is_tame and yaml.safe_load(value) == value
    return f"{begin}{value if is_plain else json.dumps(value, ensure_ascii=False)}{colon}"


def _with_secrets(text: str, secrets: Sequence[str]) -> str:
    lines = []
    for line in text.splitlines(keepends=True):
        lines += [line.replace("SECRET", it) for it in secrets] if "SECRET" in line else [line]
    return "".join(it for it in lines if secrets or it != "    env:\n")


def _released(url: str) -> dict[str, str]:
    """What stands for a guess of a template, where the repository that releases Tollgate has a
    name. url: its own, empty where it has none."""
    if not url:
        return {}
    wheel = archive.RELEASE.format(repository=url, version="VERSION", name=_WHEEL)
    return {f"{_REPOSITORY}/": f"{urlsplit(url).path.strip('/')}/", _WHEEL: wheel}


def _known(direct_url: str) -> dict[str, str]:
    """What stands for a guess of a template, where pip had Tollgate from a URL that says it."""
    written = json.loads(direct_url)
    url = urlsplit(str(written.get("url", "")))
    is_plain = re.fullmatch(r"[\w./:%+~@-]+", url.geturl(), re.ASCII)
    if url.scheme != "https" or url.query or url.username or not is_plain:
        return {}
    commit = written.get("vcs_info", {}).get("commit_id")
    if commit and url.hostname == "github.com":
        repository = url.path.strip("/").removesuffix(".git")
        return {f"{_REPOSITORY}/": f"{repository}/", "@vVERSION": f"@{commit}"}
    return {_WHEEL: url.geturl()} if url.path.endswith(".whl") else {}
