"""Base and head of a comparison: where each answers, and what would make them unequal."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tollgate.base.paths import ECOSYSTEM, REPORTS, STATE
from tollgate.base.settings import SettingError
from tollgate.base.text import some_of
from tollgate.base.urls import Url
from tollgate.compare.record import SideRecord
from tollgate.compare.settings import INJECTIONS
from tollgate.targets import copies, git, packages, pm2, probe
from tollgate.targets.checkout import MODULES
from tollgate.targets.copies import Copy
from tollgate.targets.git import Revisions
from tollgate.targets.packages import Provision

SIDES = ("base", "head")
#: Of the environment of a run: BuiltSides, as JSON.
VARIABLE = "TOLLGATE_SIDES"
#: So many files are named in a line.
NAMED = 3
#: A value of env that is the URL of a database.
_STORE = re.compile(r"(?:postgres\w*|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?)://\S+")


@dataclass(frozen=True)
class Source:
    """Where the code of an app lies. root: of the git repository. folder: in which the app runs.
    code: that of its own script, or the app's. All absolute."""

    root: Path
    folder: Path
    code: Path

    @classmethod
    def of(cls, app: pm2.App) -> Source:
        """Raises SettingError where there is no repository, and GitError where git does not trust
        it."""
        script, folder = Path(app.script), Path(app.cwd)
        # A command on PATH, such as npm, is none of the app's.
        is_command = str(script.parent) in os.environ.get("PATH", "").split(os.pathsep)
        root = git.repository(folder if is_command else script.parent)
        if root is None:
            raise SettingError(
                f"the app {app.name!r} of {ECOSYSTEM.name} runs {script}, which lies in no git "
                "repository, and base comes out of git: compare it by BASE_URL and HEAD_URL"
            )
        lexical = folder if is_command else script
        if not lexical.is_relative_to(root):
            raise SettingError(
                f"the app {app.name!r} of {ECOSYSTEM.name} runs {lexical} through a link: name "
                f"it by its path in {root}"
            )
        folder = folder if folder.is_relative_to(root) else script.parent
        is_own = not is_command and MODULES not in script.parts
        return cls(root, folder, script.parent if is_own else folder)

    def revisions(self, wanted: str | None, provision: Provision) -> Revisions:
        """Base and head. Raises GitError and SettingError."""
        near = None if provision.build else self.code  # a build makes what git ignores, of both
        linked = packages.linked(provision, self.folder, self.root)
        return git.find_revisions(self.root, wanted, near, (REPORTS, STATE, *linked))


@dataclass(frozen=True)
class BuiltSides:
    """Both sides, ready to be started. folders: that of the repository, or what stands for it, of
    base and of head. packages: the folder whose packages they may share."""

    found: Revisions
    folders: tuple[Path, Path]
    packages: Path

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> BuiltSides | None:
        """What whoever started this run has built; None where the run has to."""
        if not (text := variables.get(VARIABLE)):
            return None
        given = json.loads(text)
        base, head = map(Path, given["folders"])
        return cls(Revisions(**given["found"]), (base, head), Path(given["packages"]))

    @property
    def text(self) -> str:
        """As VARIABLE has it."""
        return json.dumps(asdict(self), default=str)

    @property
    def roots(self) -> dict[str, list[Path]]:
        """Of each side, first its own."""
        pairs = zip(SIDES, self.folders, strict=True)
        return {side: [folder, folder.resolve(), self.packages] for side, folder in pairs}


def unequal(revisions: Revisions, variables: Mapping[str, str]) -> list[str]:
    """In what the two sides differ beyond their commits, a line each."""
    lines = []
    if revisions.changed:
        files = some_of(revisions.changed, NAMED)
        lines.append(f"head is the working tree with changes not committed: {files}")
    if revisions.ignored:
        files = some_of(revisions.ignored, NAMED)
        lines.append(f"head alone has what git ignores: {files}; `link` gives it to base, too")
    for name in INJECTIONS:
        value = variables.get(name, "")
        if value.strip("0."):
            lines.append(f"{name}={value} slows base and head alike; HEAD_{name} slows head alone")
    return lines


def app_of(name: str, scenario: Mapping[str, Any]) -> pm2.App:
    """The app of a scenario, of which both sides are made. Raises SettingError and Pm2Error."""
    if not (wanted := scenario.get("app", None)):
        raise SettingError(
            f"scenario {name!r} has no `app`: name one of {ECOSYSTEM.name}, of which base and "
            "head are made, or set BASE_URL and HEAD_URL"
        )
    return copies.declared(pm2.declared_apps(), str(wanted), f"scenarios.{name}.app")


def copies_of_sides(
    app: pm2.App,
    mode: str,
    processes: int,
    root: Path,
    folders: Sequence[Path],
    variables: Mapping[str, str],
) -> list[list[Copy]]:
    """The processes of base and those of head: from the app's own port on, by the Thue-Morse
    sequence, so that no side has the earlier ones. root: of the repository. folders: what stands
    for it at each side. variables: HEAD_INJECT_* among them slows head. Raises SettingError."""
    numbers = range(2 * (1 if mode == "cluster" else processes))
    first, second = (
        copies.of_side(
            *(app, side, [app.port + it for it in numbers if it.bit_count() % 2 == number], mode),
            (root, folder) if folder != root else None,
        )
        for number, (side, folder) in enumerate(zip(SIDES, folders, strict=True))
    )
    slowed = {it: variables[f"HEAD_{it}"] for it in INJECTIONS if variables.get(f"HEAD_{it}")}
    return [first, [replace(it, env=slowed) for it in second]]


def in_turn(sides: Sequence[Sequence[Copy]], swapped: bool) -> list[Copy]:
    """The copies of both sides in the order in which PM2 is to start them, by their ports or each
    two of them swapped.

    Processes that start early can be slower: of eight of the same code, the four that had been
    started first took 0.3 to 3 % longer in five of five rounds.
    """
    both = sorted((it for side in sides for it in side), key=lambda copy: copy.port)
    return [both[at ^ swapped] for at in range(len(both))]


def sides_of_revisions(revisions: Revisions) -> list[SideRecord]:
    """Base and head, both of one repository."""
    head = revisions.head if revisions.is_commit else None
    return [
        SideRecord("base", revisions.base_text, revision=revisions.base, url=None),
        SideRecord("head", revisions.head_text, revision=head, url=None),
    ]


def sides_of_urls(sides: Sequence[Sequence[Url]]) -> list[SideRecord]:
    """Base and head, each where its processes answer. Raises SettingError where one does not."""
    for name, urls in zip(SIDES, sides, strict=True):
        for url in urls:
            if why := probe.unanswered(url):
                raise SettingError(
                    f"{name.upper()}_URL {url.text} does not answer as a web server does ({why}): "
                    "start what runs there, or correct the URL"
                )
    base, head = (",".join(url.text for url in urls) for urls in sides)
    return [SideRecord("base", base, None, base), SideRecord("head", head, None, head)]


def apps_of_sides(
    app: pm2.App, sides: Sequence[Sequence[Copy]], declared: Mapping[str, pm2.App]
) -> list[list[pm2.App]]:
    """The processes of base and those of head as PM2 starts them. Raises SettingError where two
    have one port, or base lacks what it runs."""
    by_side = [[declared[copy.name] for copy in side] for side in sides]
    copies.refuse_shared_ports(app, [it for side in by_side for it in side])
    for each in by_side[0]:
        needed = [each.script, *([each.interpreter] if "/" in each.interpreter else [])]
        absent = next((it for it in needed if not Path(it).exists()), None)
        if absent:
            raise SettingError(
                f"the app {app.name!r} of {ECOSYSTEM.name} runs {absent}, which is not there: "
                "set BASE to a commit that has it, or name the `install`, `build` or `link` beside "
                "the app that puts it there"
            )
    return by_side


def shared_stores(apps: Sequence[Sequence[pm2.App]]) -> list[str]:
    """What several processes would write to, as far as args and env tell: folders and databases by
    which one's work slows another; a line each."""
    users: dict[str, set[str]] = {}
    for app in (it for side in apps for it in side):
        values = [*app.args, *(it for key, it in app.env.items() if key not in ("PORT", "PATH"))]
        for place in {place for value in values for place in _stores(value, Path(app.cwd))}:
            users.setdefault(place, set()).add(app.name)
    hint = (
        f"give each its own by ${{SIDE}} and ${{PROCESS}} in {ECOSYSTEM.name}, if they write there"
    )
    return [
        f"{some_of(sorted(names), NAMED)} share {place}: {hint}"
        for place, names in users.items()
        if len(names) > 1
    ]


def _stores(value: str, folder: Path) -> list[str]:
    if found := _STORE.fullmatch(value):
        return [re.sub(r"//[^/@]*@", "//...@", found[0])]
    places = (folder / it for it in re.split(r"[=,:;\s]", value) if it and "/" in it)
    return [str(it) for it in places if it.is_dir() or it.suffix in (".db", ".sqlite", ".sqlite3")]


def places(sides: Sequence[Sequence[Url]]) -> dict[str, object]:
    """Properties of the plan, by the number that its coin shows: even for base's processes, odd for
    head's. sides: where the processes of base and of head answer."""
    found: dict[str, object] = {"last_coin": 2 * len(sides[0]) - 1}
    for side, urls in enumerate(sides):
        for number, url in enumerate(urls):
            found |= {f"{name}_{2 * number + side}": it for name, it in url.properties.items()}
    return found
