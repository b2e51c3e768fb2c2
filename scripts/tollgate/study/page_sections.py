"""What index.html of a study run says: the answers first, then all that they rest on. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tollgate.page.assemble import Page, Section
from tollgate.page.parts import Child, badge, details, element, listing, paragraph, terms
from tollgate.study import page_charts
from tollgate.study import page_tables as tables
from tollgate.study.model import CROSSCHECK, Study
from tollgate.study.series import Answers
from tollgate.study.told import answer, summary


@dataclass(frozen=True)
class Surroundings:
    """What the study does not hold itself. environment: as run.json has it. started: ISO 8601.
    command: which makes the run again. verdict: as verdict.json has it, None for none.
    files: (relative address, what it is) of what the run left. short: whether it was the smoke."""

    environment: dict[str, Any]
    started: str
    command: str
    verdict: dict[str, Any] | None
    files: Sequence[tuple[str, str]]
    short: bool = False


def to_page(study: Study, series: Sequence[Answers], around: Surroundings) -> Page:
    """The whole page."""
    text, tone = answer(study)
    began = around.started[:16].replace("T", " ")
    return Page(
        title=f"Study: {text}",
        kicker=f"Tollgate study, {began} UTC",
        sentence=summary(study, str(around.environment.get("cpu", "a machine unknown"))),
        answer=text,
        tone=tone,
        sections=sections(study, series, around),
        remarks=_remarks(around),
    )


def sections(study: Study, series: Sequence[Answers], around: Surroundings) -> tuple[Section, ...]:
    """From the answers down to the raw files; sections without content are left out."""
    found = (
        Section("claims", "Published claims, measured again", [tables.claims(study)]),
        Section("throughput", "Throughput over users", _throughput(study)),
        Section("scaling", "Does it scale?", _scaling(study)),
        Section("pi", "Every answer of pi", _pi(series)),
        Section("ratios", "Arm against arm", _ratios(study)),
        Section("workers", "Who got the requests", tables.workers(study)),
        Section("crosscheck", "Other load generators", _crosscheck(study)),
        Section("arms", "All figures", tables.arms(study)),
        Section("outages", "Workers that died", tables.outages(study)),
        Section("environment", "Machine, and how to measure again", _environment(study, around)),
    )
    return tuple(section for section in found if section.content)


_RATIOS_TOLD = (
    "Throughput of an arm over that of another at the same number of users, measured by turns in "
    "the same rounds. Bars are 95 % intervals of a block bootstrap; one that crosses 1 can't tell."
)
_PI_TOLD = (
    "As the write-up shows it: a dot is an answer, at the time at which it came. Drag to zoom in, "
    "double-click to see all."
)
_THROUGHPUT_TOLD = (
    "Requests answered a second, with 95 % intervals. Dashed, where it could be fitted: the "
    "Universal Scalability Law, up to twice the most users measured."
)
_SCALING_TOLD = (
    "Concurrency performance: the response time of one process under the fewest users, times the "
    "throughput. 1 (dotted) is what one process gives without a queue; above it an arm scales."
)


def _throughput(study: Study) -> list[Any]:
    charts = page_charts.throughput(study)
    return [_THROUGHPUT_TOLD, *charts] if charts else []


def _scaling(study: Study) -> list[Any]:
    charts = page_charts.performance(study)
    return [_SCALING_TOLD, *charts] if charts else []


def _ratios(study: Study) -> list[Child]:
    if not study.comparisons:
        return []
    means = tables.ratios(study, "mean")
    unfolded = details("The same for the mean response time: left of 1 is faster", means)
    return [_RATIOS_TOLD, tables.ratios(study, "throughput"), unfolded]


def _pi(series: Sequence[Answers]) -> list[Any]:
    charts = page_charts.answers(series)
    return [_PI_TOLD, *charts] if charts else []


def _crosscheck(study: Study) -> list[Child]:
    if not study.checks:
        return []
    told = (
        "The same server under the same load, JMeter and others by turns. "
        f"The blocks are those of the experiment {CROSSCHECK}."
    )
    return [told, tables.checks(study)]


def _remarks(around: Surroundings) -> list[Child]:
    remarks: list[Child] = []
    verdict = (around.verdict or {}).get("verdict", "PASS")
    if verdict != "PASS":
        reasons = [str(it.get("text", "")) for it in around.verdict.get("reasons", ())]
        more = len(reasons) - _REASONS_TOLD
        told = "; ".join(reasons[:_REASONS_TOLD]) + (f"; and {more} more" if more > 0 else "")
        mark = badge(verdict, "unsure" if verdict == "INCONCLUSIVE" else "bad")
        remarks.append(element("span", mark, f" The run itself: {told or 'no reason is told'}"))
    if around.short:
        remarks.append("This was the short smoke: it shows that everything works, and no more.")
    return remarks


#: Of why the run itself did not pass; all of them stand in verdict.md.
_REASONS_TOLD = 3


def _environment(study: Study, around: Surroundings) -> list[Child]:
    known = around.environment
    versions = known.get("versions", {})
    memory = known.get("memory_bytes")
    told: list[tuple[str, Child]] = [
        ("CPU", str(known.get("cpu", "unknown"))),
        ("Cores", str(study.cores)),
        ("Memory", f"{memory / 2**30:.1f} GiB" if memory else "unknown"),
        ("Operating system", str(known.get("os", "unknown"))),
        *((str(name), str(version)) for name, version in versions.items()),
        ("Commit", str(known.get("commit", "unknown"))),
        ("Seed", str(study.seed)),
    ]
    links = [element("a", path, href=path) for path, _ in around.files]
    what = [said for _, said in around.files]
    files = [element("span", link, f": {said}") for link, said in zip(links, what, strict=True)]
    return [
        terms(told),
        element("h3", "Again, with the blocks in the same order"),
        element("pre", around.command, tabindex=0),
        *((element("h3", "Left out, and why"), listing(study.notes)) if study.notes else ()),
        element("h3", "Files of this run"),
        listing(files) if files else paragraph("None is there any more."),
    ]
