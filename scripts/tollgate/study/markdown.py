"""A study as Markdown, for a README or a job's page: the claims first, then what they rest on.
Pure."""

from __future__ import annotations

from collections.abc import Iterator

from tollgate.markup import escaped
from tollgate.study.markdown_tables import arms, checks, comparisons, scaling, table, workers
from tollgate.study.model import CROSSCHECK, CellResult, Claim, Study
from tollgate.study.output import About
from tollgate.study.told import AGREES, DISAGREES, UNKNOWN, interval, number, users

DIRECTION = (
    "An answer is about the direction that a claim takes, and about its size only where the size "
    "is the claim: core counts differ."
)
CLAIM_HEADINGS = ("system", "claim", "published", "measured (95 % CI)", "answer")


def to_markdown(study: Study, about: About) -> str:
    """All of the study, a section for each experiment."""
    lines = [f"# {headline(study)}", "", *_machine(study, about), "", *claims_table(study)]
    lines += ["", DIRECTION, "", *map(_reason, study.claims)]
    for experiment in study.experiments:
        lines += _experiment(study, experiment)
    if study.checks:
        lines += ["", "## Other load generators", "", *checks(study.checks)]
    if study.outages:
        lines += ["", "## Workers that died", "", *map(_outage, study.outages)]
    if study.notes:
        lines += ["", "## Notes", "", *(f"- {escaped(note)}" for note in study.notes)]
    return "\n".join(lines) + "\n"


def headline(study: Study) -> str:
    """`Study: 5 claims agree, 1 disagrees, 3 cannot be told`."""
    answers = [claim.answer for claim in study.claims]
    agreed, refused, unknown = (answers.count(it) for it in (AGREES, DISAGREES, UNKNOWN))
    claims = "claim agrees" if agreed == 1 else "claims agree"
    disagree = "disagrees" if refused == 1 else "disagree"
    return f"Study: {agreed} {claims}, {refused} {disagree}, {unknown} cannot be told"


def claims_table(study: Study) -> list[str]:
    """The published figures beside the measured ones."""
    rows = ((it.system, it.claim, it.published, measured(it), it.answer) for it in study.claims)
    return table(CLAIM_HEADINGS, rows)


def measured(claim: Claim) -> str:
    """`1.86 (1.81 to 1.9)`, with its unit."""
    found = claim.measured
    if found.value is None:
        return "-"
    value = f"{number(found.value)} {claim.unit}".strip()
    ends = interval(found)
    return f"{value} ({ends})" if ends else value


def _reason(claim: Claim) -> str:
    return f"- **{escaped(claim.id)}**, {escaped(claim.what)}: {escaped(claim.reason)}."


def _machine(study: Study, about: About) -> Iterator[str]:
    """What the figures hold for, in a few lines."""
    environment = about.environment
    memory = environment["memory_bytes"] / 2**30
    cores = "one core" if study.cores == 1 else f"{study.cores} cores"
    versions = environment["versions"]
    names = (("Node", "node"), ("Java", "java"), ("JMeter", "jmeter"), ("PM2", "pm2"))
    said = ", ".join(f"{name} {versions[key]}" for name, key in names)
    yield escaped(f"{environment['cpu']}, {cores}, {memory:.1f} GiB, {environment['os']}; {said}.")
    rounds = sorted({result.cell.rounds for result in study.cells})
    several = "" if not rounds else f", {' or '.join(map(str, rounds))} rounds in random order"
    begun = f"Begun {about.started}{several}, seed {study.seed}"
    yield escaped(f"{begun}; commit {environment['commit']}.")


def _experiment(study: Study, experiment: str) -> Iterator[str]:
    cells = [it for it in study.cells if it.cell.experiment == experiment]
    if not cells or experiment == CROSSCHECK:
        return
    yield from ("", f"## {escaped(experiment)}", "", *arms(cells))
    untold = (it.note for result in cells for it in result.metrics.values() if it.value is None)
    for note in dict.fromkeys(filter(None, untold)):
        yield from ("", f"\\- stands for a figure that is not told: {escaped(note)}.")
    remarks = [remark for result in cells for remark in _remarks(result)]
    if remarks:
        yield from ("", *remarks)
    compared = [it for it in study.comparisons if it.experiment == experiment]
    if compared:
        yield from ("", "Ratios, arm / baseline:", "", *comparisons(compared))
    curves = [it for it in study.curves if it.experiment == experiment]
    if curves:
        yield from ("", "Over users:", "", *scaling(curves))
    yield from ("", "Requests by who answered them:", "", *workers(cells))


def _remarks(result: CellResult) -> Iterator[str]:
    """What makes a cell prove less: the table has what held the others."""
    who = f"{result.cell.arm} at {users(result.cell.users)}"
    if result.bottleneck.who in ("generator", "machine", "unknown"):
        held = f"{result.bottleneck.who} bottleneck"
        yield f"- {escaped(f'{who}, {held}: {result.bottleneck.reason}')}"
    yield from (f"- {escaped(f'{who}, left out: {reason}')}" for reason in result.left_out)


def _outage(outage: dict) -> str:
    lost = "not counted" if outage["lost"] is None else str(outage["lost"])
    back = "did not come back"
    if outage["to_s"] is not None:
        back = f"its successor was online {outage['to_s'] - outage['from_s']:.1f} s later"
    during = f" during {outage['experiment']}" if outage["experiment"] else ""
    who = f"worker {outage['worker']} of {outage['app']} (pid {outage['pid']})"
    died = f"{who} died {outage['from_s']:.1f} s into the run{during}"
    return f"- {escaped(f'{died}; {back}; requests lost: {lost}')}"
