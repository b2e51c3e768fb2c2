"""Before any load: whether what the executions ask is there, and answers right."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tollgate.targets import pm2, probe
from tollgate.targets.remote import Remote
from tollgate.targets.scenarios import note, probes_of
from tollgate.targets.wanted import Probes, wanted_probes, wanted_remotes

#: Seconds that an app may take from `ready` to its first right answer.
ANSWER_TIMEOUT = 20
#: How often what is expected within a time is asked before it counts as slower.
TRIES = 3


def prove_apps(
    config: Mapping,
    apps: Sequence[pm2.App],
    running: Iterable[dict],
    probes: Mapping[str, Probes],
    log: logging.Logger,
) -> None:
    """Ask each app that runs under PM2. What can't be proven of one is noted for the verdict.

    running: the workers, as pm2.workers gives them. Raises ProbeError."""
    running = list(running)
    slow: dict[str, str] = {}
    for app in apps:
        found = probe.workers_of(app, running)
        if app.deals_to:
            servers = pm2.servers_behind(app, apps)
            probe.deals(pm2.HOST, app, servers, ANSWER_TIMEOUT)
        else:
            unproven = probe.answers(pm2.HOST, app, found, ANSWER_TIMEOUT)
            if unproven:
                log.warning("targets: %s", unproven)
                note(config, app.name, unproven)
        slow |= _ask(Remote("http", pm2.HOST, app.port), probes[app.name])
        log.info("Target %s: %d worker(s) on %s:%d", app.name, found, pm2.HOST, app.port)
    _tell_slow(slow, log)


def probes_for(config: Mapping, of_the_service: object) -> dict[str, Probes]:
    """What each app is asked, by its name. Raises TaurusConfigError."""
    return wanted_probes(config, probes_of(of_the_service, "the service `targets`") or [])


def ask_elsewhere(config: Mapping, log: logging.Logger) -> None:
    """Ask each service that the run does not start, and give its plan where it is.

    Raises ProbeError and TaurusConfigError."""
    for name, remote, probes in wanted_remotes(config):
        if not remote.is_loopback:
            log.warning(
                "targets: execution %s sends its load to %s, which is not this machine: be sure "
                "that whoever runs it agrees",
                *(name, remote.url),
            )
        probe.is_there(remote)
        _tell_slow(_ask(remote, probes), log)
        log.info("Service %s of %s answers; it is neither started nor stopped", remote.url, name)


def _ask(remote: Remote, probes: Probes) -> dict[str, str]:
    """Ask it all, and return what is slower than expected: by path, how much. Raises ProbeError."""
    slow = {}
    for path, answer, expected_ms in probes:
        took_ms = min(_times(remote, path, answer, expected_ms))
        if expected_ms is not None and took_ms > expected_ms:
            slow[path] = f"GET {path} took {took_ms:.0f} ms instead of {expected_ms:g}"
    return slow


def _times(remote: Remote, path: str, answer: str, expected_ms: float | None) -> Iterator[float]:
    """A first answer may be slow for once: one that is gets another chance, and a third."""
    for _ in range(TRIES):
        took_ms = probe.answer_is_right(remote, path, answer)
        yield took_ms
        if expected_ms is None or took_ms <= expected_ms:
            return


def _tell_slow(slow: Mapping[str, str], log: logging.Logger) -> None:
    if slow:
        log.warning(
            "targets: slower than the load of taurus.yml was made for: %s: the run may end "
            "INCONCLUSIVE; send less (-o modules.jmeter.properties.pi_rate=0.2, say) or measure "
            "longer (-o modules.jmeter.properties.measured=120)",
            "; ".join(slow.values()),
        )
