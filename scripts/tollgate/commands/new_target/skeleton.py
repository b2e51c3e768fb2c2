"""The files of a new target, from templates that are a working example called `meadow`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from tollgate.commands.new_target import edits
from tollgate.commands.new_target.model import NewTarget, NewTargetError

TEMPLATES = Path(__file__).with_name("templates")
#: Rows of the feed; fewer than 20 make a load that a cache answers.
ROWS = 20
APP, CONFIG = "app/app.js", "taurus.yml"


def new_files(target: NewTarget) -> dict[str, str]:
    """The text of each new file, by its path in the project."""
    name = target.name
    kind = "router" if target.is_router else "service"
    files = {
        f"plans/check-{name}.jmx": _plan(target),
        f"plans/fragments/{name}.jmx": _filled(target, f"{kind}-fragment.jmx"),
        f"data/{name}.csv": "".join(f"{line}\n" for line in _rows(target)),
    }
    if target.is_router:
        files |= {
            f"app/targets/{name}.js": _filled(target, "router.js"),
            f"tests/app/{name}.test.js": _filled(target, "router.test.js"),
        }
    return files


def changed_files(target: NewTarget, root: Path) -> dict[str, str]:
    """The new text of each file that is there already, by its path. Raises NewTargetError."""
    files = {CONFIG: edits.with_kind(_read(root, CONFIG), target, alias(target))}
    if target.is_router:
        files[APP] = edits.mounted(_read(root, APP), target)
    return files


def alias(target: NewTarget) -> str:
    """The kind of run that asks the target alone, as an entry of cli-aliases in taurus.yml."""
    name = target.name
    modes = ("fork", "cluster") if target.is_router else (name,)
    probe, answer = (f"/{name}/3", r'"square":9\b') if target.is_router else (target.path, "")
    lines = [
        f"{name}: # `./scripts/run -{name}`; made by `tollgate new target`",
        "  settings:",
        f"    artifacts-dir: reports/${{TOLLGATE_UTC}}-{name}",
        "  ~~execution:",
        *(f"  - scenario: {mode}" for mode in modes),
        "  scenarios:",
    ]
    for mode in modes:
        lines += [
            f"    {mode}:",
            f"      script: plans/check-{name}.jmx",
            *(f"      {line}" for line in _where(target)),
            "      probes: # asked before any load; the answer must contain the pattern",
            f"      - path: {json.dumps(probe)}",
            f"        answer: '{answer}'",
        ]
    lines += [
        "  modules:",
        "    verdict:",
        f"      kind: {name}",
        "  ~~reporting:",
        "  - module: verdict",
        "  - module: passfail",
        "    criteria: # what must not happen",
        f"    - avg-lt of {name}>350ms",
        f"    - avg-rt of {name}>2500ms",
        f"    - fail of {name}>0%",
    ]
    return "".join(f"  {line}\n" for line in lines)


def _where(target: NewTarget) -> list[str]:
    if target.remote:
        return [f"url: {target.remote.url} # runs already; never started or stopped by a run"]
    return [f"target: {target.app} # an app of ecosystem.config.js"] if target.app else []


def _rows(target: NewTarget) -> Iterator[str]:
    if target.is_router:
        yield "n,square"
        yield from (f"{n},{n * n}" for n in range(1, ROWS + 1))
        return
    yield "path,answer"
    sign = "&" if "?" in target.path else "?"
    yield from (f"{target.path}{sign}visitor={number},." for number in range(1, ROWS + 1))


def _plan(target: NewTarget) -> str:
    text = _filled(target, "check.jmx")
    if target.remote:
        host = escape(target.remote.host)
        text = text.replace("__P(host,127.0.0.1)", f"__P(host,{host})")
        text = text.replace("__P(port,3001)", f"__P(port,{target.remote.port})")
        text = text.replace("__P(protocol,http)", f"__P(protocol,{target.remote.protocol})")
    return text


def _filled(target: NewTarget, template: str) -> str:
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    words = {
        "meadowTarget": target.identifier,
        "meadow_": f"{target.prefix}_",
        "meadow": target.name,
    }
    # In one pass: a name may hold one of the words itself.
    return re.sub("|".join(words), lambda found: words[found[0]], text)


def _read(root: Path, path: str) -> str:
    try:
        return (root / path).read_text(encoding="utf-8")
    except OSError as error:
        raise NewTargetError(f"{path} can't be read: {error.strerror}") from None
