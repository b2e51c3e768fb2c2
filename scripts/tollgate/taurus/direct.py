"""Whom JMeter asks without a proxy, whatever the environment says of one: this machine. Pure.

JMeter takes its proxy from `http.proxyHost`, which JAVA_TOOL_OPTIONS may set, and of the hosts to
ask directly it knows whole names and endings: not Java's own `127.*`. So each name is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tollgate.base import Url

_THIS_MACHINE = ("localhost", "127.0.0.1", "::1", "[::1]")
#: By which a JVM is given options, in the order in which they win.
_OPTIONS = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "JVM_ARGS", "_JAVA_OPTIONS")


def direct_hosts(environment: Mapping[str, str], hosts: Iterable[str]) -> str:
    """JMeter's `nonProxyHosts`: this machine, by the names that the plan's hosts have for it, and
    what the user's options already except."""
    options = " ".join(environment.get(name, "") for name in _OPTIONS)
    given = re.findall(r"""-Dhttp\.nonProxyHosts=["']?([^\s"']+)""", options)
    ours = (host for host in hosts if Url("http", host, 80).is_loopback)
    return "|".join(dict.fromkeys([*_THIS_MACHINE, *ours, *given[-1:]]))
