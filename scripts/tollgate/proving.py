"""Before any load: whether what the executions ask is there, and answers right."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from tollgate import pm2, probe
from tollgate.remote import Remote
from tollgate.scenarios import note, probes_of
from tollgate.wanted import Probes, wanted_probes, wanted_remotes

#: Seconds that an app may take from `ready` to its first right answer.
ANSWER_TIMEOUT = 20


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
        _ask(Remote("http", pm2.HOST, app.port), probes[app.name])
        log.info("Target %s: %d worker(s) on %s:%d", app.name, found, pm2.HOST, app.port)


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
        _ask(remote, probes)
        log.info("Service %s of %s answers; it is neither started nor stopped", remote.url, name)


def _ask(remote: Remote, probes: Probes) -> None:
    for path, answer in probes:
        probe.answer_is_right(remote, path, answer)
