"""Which hosts a plan sends its requests to, as far as they are known before the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from tollgate.plan.expressions import Expander
from tollgate.plan.jmx import Element, read_tree
from tollgate.plan.read import expander_of

#: Where samplers, and the defaults of theirs, name a host.
_HOSTS = ("HTTPSampler.domain", "TCPSampler.server", "FTPSampler.server")
#: A whole URL may stand here, and goes before the host.
_PATH = "HTTPSampler.path"


def read_hosts(path: Path, properties: Mapping[str, str]) -> list[str]:
    """Those of the plan at path, run with these properties. Raises PlanError."""
    bare = Expander(properties, {})
    root = read_tree(path, lambda text: bare.expand(text).value)
    return hosts(root, expander_of(root, properties))


def hosts(root: Element, expander: Expander) -> list[str]:
    """Each once, in the plan's order. root: the plan's tree. expander: knows its properties and
    variables."""
    return list(dict.fromkeys(_named(root, expander)))


def _named(root: Element, expander: Expander) -> Iterator[str]:
    for element in root.walk():
        for name in _HOSTS:
            host = expander.expand(element.props.get(name, "")).value
            if host and host.strip():
                yield host.strip().strip("[]")
        path = expander.expand(element.props.get(_PATH, "")).value or ""
        if path.startswith(("http://", "https://")) and (host := _host_of(path)):
            yield host


def _host_of(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
