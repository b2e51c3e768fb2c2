"""A service as text: an entry of `scenarios` in taurus.yml."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from tollgate.base.text import one_line
from tollgate.intake.draft import GUESSED, Draft

#: Of a request in one line.
_WIDEST = 140
#: More labels than this share one limit.
_MOST_LIMITS = 8
_ANSWERS = "answers: same # of compare: other codes or sizes are INVALID; any: they are said"


def entry(name: str, head: str, place: str, draft: Draft) -> str:
    """head: what the comment says. place: `app: NAME` or `url: URL`, perhaps with a comment."""
    lines = [place, "rate: 10/s # of check, all labels together", _ANSWERS]
    lines += _block(draft.settings) if draft.settings else []
    lines += ["requests:", *(line for it in draft.requests for line in _request(it))]
    if draft.data:
        data = {"path": f"data/{name}.csv", "delimiter": ",", "quoted": True}
        lines.append(f"data-sources: [{flow(data)}]")
    if draft.secrets:
        lines.append("environment: # secret: export them, no file has their values")
        lines += [f"- {it} # {one_line(words)}" for it, words in draft.secrets.items()]
    if draft.probes:
        lines.append("probes: # asked before any load")
        lines += [f"- {flow(_probe(name, it))}" for it in draft.probes]
    lines += ["criteria: # what must not happen", *(f"- {it}" for it in _criteria(draft))]
    return f"  {name}: # {head}\n" + "".join(f"    {line}\n" for line in lines)


def _request(request: Mapping[str, Any]) -> Iterator[str]:
    """With a weight, and a comment on what is guessed."""
    said = {key: it for key, it in request.items() if key != GUESSED}
    if guessed := request.get(GUESSED):
        yield f"# guessed: {one_line(str(guessed))}"
    whole = said if "weight" in said else {**said, "weight": 1}
    in_line = flow(whole)
    yield from [f"- {in_line}"] if len(in_line) <= _WIDEST else _block([whole])


def _probe(name: str, probe: Mapping[str, str]) -> dict[str, str]:
    if "schema" not in probe:
        return dict(probe)
    return {**probe, "schema": f"{answers_path(name)}#{probe['schema']}"}


def answers_path(name: str) -> str:
    """The file with the schemas of a service's answers."""
    return f"data/{name}.answers.json"


def _criteria(draft: Draft) -> list[str]:
    """A limit for each label, or one for all where there are many or where an arrival has more
    than one."""
    labels = [it["label"] for it in draft.requests if "label" in it and "include" not in it]
    each = len(labels) == len(draft.requests) <= _MOST_LIMITS
    limits = [f"avg-rt of {it}>2500ms" for it in labels] if each else ["avg-rt>2500ms"]
    return [_scalar(it) for it in ("fail>0%", *limits)]


def _scalar(text: str) -> str:
    return yaml.safe_dump(text, width=math.inf, allow_unicode=True).splitlines()[0]


def flow(values: Mapping[str, object]) -> str:
    """A mapping of YAML in one line."""
    return _dumped(values, True).strip()


def _block(values: object) -> list[str]:
    """YAML in lines, of which only the innermost are in flow style."""
    return _dumped(values, None).splitlines()


def _dumped(values: object, in_flow: bool | None) -> str:
    style = {"default_flow_style": in_flow, "sort_keys": False, "allow_unicode": True}
    return yaml.dump(values, Dumper=_Dumper, width=math.inf, **style)


class _Dumper(yaml.SafeDumper):
    """Writes what is the same in two places twice, without anchors."""

    def ignore_aliases(self, _data: object) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """Ends of lines that YAML has beside its usual ones are read as such, but for these quotes."""
    style = '"' if re.search("[\x85\u2028\u2029]", text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _text)
