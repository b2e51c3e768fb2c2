"""A service that a scenario names by its URL: it runs already, and no run starts or stops it. Pure.

scenarios:
  shop:
    script: plans/check-shop.jmx
    url: http://127.0.0.1:8080
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bzt import TaurusConfigError

from tollgate.base import read_url, shown


@dataclass(frozen=True)
class Remote:
    """Where it listens. host: a name or an address, without brackets."""

    protocol: str
    host: str
    port: int

    @property
    def url(self) -> str:
        """`http://127.0.0.1:8080`, with the port in any case."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.protocol}://{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether it runs on this machine, as far as its name tells."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def properties(self) -> dict[str, str | int]:
        """What its plan gets as JMeter properties."""
        return {"protocol": self.protocol, "host": self.host, "port": self.port}


def remote_of(scenario: Mapping, name: str) -> Remote | None:
    """The service that a scenario names as its `url`, None where it names none.

    name: of the execution. Raises TaurusConfigError, also for a `target` beside it."""
    given = scenario.get("url", None)
    if given is None:
        return None
    if scenario.get("target", None):
        raise TaurusConfigError(
            f"targets: scenario {name!r} has a `target` and a `url`: keep the target for an app "
            "that the run starts, or the url for a service that runs already"
        )
    remote = _read(str(given))
    if remote is None:
        raise TaurusConfigError(
            f"targets: scenario {name!r} has url {shown(str(given))!r}: write protocol, host and "
            "perhaps a port, such as http://127.0.0.1:8080; paths belong to the plan"
        )
    return remote


def _read(text: str) -> Remote | None:
    try:
        url = read_url("url", text)
    except ValueError:
        return None
    return Remote(url.protocol, url.host, url.port)


def unread(remote: Remote, plan: Iterable[str]) -> list[str]:
    """The properties of `remote` that a plan does not read, so that it would ask somebody else.

    plan: the text of the plan and of each file that it includes."""
    text = "\n".join(plan)
    # Without a protocol JMeter takes http.
    names = [name for name in remote.properties if (name, remote.protocol) != ("protocol", "http")]
    return [name for name in names if not re.search(rf"__(P|property)\(\s*{name}\s*[,)]", text)]
