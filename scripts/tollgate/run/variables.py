"""The environment variables that make a run what it is. Pure.

app/settings.js, app/balancer/settings.js and ecosystem.config.js read those of the service, Node
some by itself; the others choose what is run, and go before the settings.
"""

from __future__ import annotations

from collections.abc import Mapping

from tollgate.run.redaction import Redaction

#: What changes the service: figures under different values are not comparable.
SERVICE = (
    *("INJECT_DELAY_MS", "INJECT_WORK_PERCENT"),
    *("HEAD_INJECT_DELAY_MS", "HEAD_INJECT_WORK_PERCENT"),
    *("USE_RANDOM_DELAY", "USE_CHILD_PROCESSES", "KITTENS_LEAK", "PI_POINTS", "LOG_REQUESTS"),
    *("BALANCER_UPSTREAMS", "BALANCER_TIMEOUT_MS", "MEMORY_LIMIT", "RELOAD_EVERY"),
    *("NODE_OPTIONS", "UV_THREADPOOL_SIZE"),
)
#: What chooses the load, its targets and its judge, or changes the generator.
_RUN = (
    *("MODE", "SCALE", "PLAN", "CRITERIA", "STOP_AFTER"),
    *("BASE", "BASE_URL", "HEAD_URL", "JVM_ARGS"),
)


def known(environment: Mapping[str, str]) -> dict[str, str]:
    """Those that are set, by name, without what is secret in URLs and among Java's options. An
    empty variable counts as unset, as it does for the apps."""
    text = Redaction().text
    return {name: text(environment[name]) for name in (*_RUN, *SERVICE) if environment.get(name)}
