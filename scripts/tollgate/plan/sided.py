"""A copy of a plan of a user's own that asks base and head: whatever goes to the service goes to
one process of one side, by a coin; other hosts are asked as ever.

The coin falls once a turn of a thread where a turn begins a session of its own (plan/sessions.py),
else once a thread. Threads get theirs in blocks that have each process once, in an order drawn by a
seed. What setUp and tearDown thread groups do, they do to each process.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lxml import etree

from tollgate.base.text import some_of
from tollgate.base.urls import Url
from tollgate.plan import addresses, nodes, sessions
from tollgate.plan.addresses import NO_HOST, Asked
from tollgate.plan.expressions import Expander
from tollgate.plan.inline import put_in_tree, put_modules_in_place
from tollgate.plan.jmx import Element, PlanError, added, parsed, read_tree, write
from tollgate.plan.model import FLOW_CONTROL, OPEN_MODEL, Plan, Sampler, ThreadGroup
from tollgate.plan.read import read_plan
from tollgate.plan.variables import expander_of, running_expander_of, set_anew

#: Host and port.
Place = tuple[str | None, int | None]
#: Threads of each side that a coin by thread needs at least.
FEWEST = 8
COIN, SEED = "coin", "coin_seed"
_SET_UP = ("SetupThreadGroup", "PostThreadGroup")
#: Blocks of a sequence of coins, before it begins anew.
_MOST_BLOCKS = 512
_NAMED = 3


@dataclass(frozen=True)
class Sided:
    """place: of the service that the plan asks, empty where it names none. lasting: what outlasts a
    turn, where the coin falls once a thread; empty where it falls once a turn. threads: of each
    side, of the group that has the fewest. labels: that go to the service, of those that are
    compared. elsewhere: labels none of whose requests does. straying: that may be sent elsewhere,
    by what is known to the run alone. repeats: how many requests of a label a toss sends at most,
    None where that may differ by side. timeouts: after how many ms requests are given up, by
    property. remarks: lines for people."""

    place: str
    lasting: str
    threads: int
    labels: tuple[str, ...]
    elsewhere: tuple[str, ...]
    straying: tuple[str, ...]
    repeats: float | None
    timeouts: dict[str, int]
    remarks: tuple[str, ...]

    @property
    def coin(self) -> str:
        return "thread" if self.lasting else "iteration"


def write_sided(
    script: Path,
    target: Path,
    properties: Mapping[str, str],
    host: str,
    sides: Sequence[Sequence[Url]],
    usual_ms: Mapping[str, int],
    seed: int,
) -> Sided:
    """Write the copy of a plan. target: where to. host: the service's `host:port` or host, empty
    for the only one that the plan asks. sides: where base's and head's processes answer. usual_ms:
    timeouts where the plan has none. Raises PlanError, one line."""
    root, plan = read_tree(script, properties), read_plan(script, properties)
    document = parsed(script)
    put_in_tree(document, target, script.parent)
    tree = nodes.below_test_plan(document)
    put_modules_in_place(tree)
    _refuse_unfit(root, tree, script)
    expander = running_expander_of(root, properties)
    requests = [*addresses.asked(tree, expander)]
    service = _service(requests, host, script)
    ours = [it for it in requests if _is_of(it, service)]
    timeouts = _send(ours, usual_ms)
    urls = [it.url for side in sides for it in side]
    addresses.spread_credentials(tree, expander, service, urls)
    remarks = [*_remarks(root, plan, requests, service)]
    if _measure_children(tree):
        remarks.append("transactions with a parent sample are measured by the requests in them")
    lasting = _sessions(root, plan, properties, len(urls))
    _toss(tree, lasting, {it.element for it in ours}, len(sides[0]), seed)
    write(document, target)
    by_thread = [it for it in lasting if it]
    fewest = min((it.threads for it in by_thread), default=0) // len(urls) * len(sides[0])
    why = by_thread[0].why if by_thread else ""
    repeats = None if why else sessions.requests_a_turn(plan)
    labels, elsewhere, straying = _labels(plan, expander, ours)
    return Sided(
        place=f"{service[0]}:{service[1]}" if service[0] else "",
        lasting=why,
        threads=fewest,
        labels=labels,
        elsewhere=elsewhere,
        straying=straying,
        repeats=repeats,
        timeouts=timeouts,
        remarks=tuple(remarks),
    )


def _refuse_unfit(root: Element, tree: etree._Element, script: Path) -> None:
    if (setter := set_anew(root).get(COIN)) is not None:
        raise PlanError(
            f"{script}: {setter} sets the variable {COIN}, by which a comparison chooses the side: "
            "give that variable another name"
        )
    for element, _ in nodes.active(tree):
        if nodes.kind(element) == "IncludeController":
            raise PlanError(
                f"{script}: what the Include Controller {element.get('testname')!r} includes can't "
                "be sent to two sides: name a file by a plain path, and save it in JMeter 5"
            )


def _service(requests: Sequence[Asked], host: str, script: Path) -> Place:
    """Host and port of the service; of a plan that names no host at all, none."""
    active = [it for it in requests if it.is_active]
    if active and not host and all(it.reason == NO_HOST for it in active):
        return None, None
    services = list(dict.fromkeys((it.host, it.port) for it in active if it.host))
    matching = [it for it in services if host in ("", it[0], f"{it[0]}:{it[1]}")]
    places = ", ".join(f"{name}:{port}" for name, port in services)
    if len(matching) > 1 or (host and not matching):
        problem = f"PLAN_HOST is {host!r}, and the plan asks" if host else "the plan asks several:"
        raise PlanError(
            f"{script}: {problem} {places or 'nobody that is known'}: say by PLAN_HOST=host:port "
            "which of them base and head stand for"
        )
    unknown = next((it for it in active if not it.host), None)
    if unknown is not None:
        raise PlanError(
            f"{script}: whom {unknown.element.get('testname')!r} asks is known to the run alone "
            f"({unknown.reason}), and base and head have to stand for it: write the host as it is, "
            "or give its property by -o modules.jmeter.properties.NAME=VALUE"
        )
    if not matching:
        raise PlanError(f"{script}: sends no HTTP request, so there is nothing to compare")
    return matching[0]


def _send(ours: Sequence[Asked], usual_ms: Mapping[str, int]) -> dict[str, int]:
    """Have them go where the coin says; returns the longest timeouts."""
    longest = dict(usual_ms)
    for request in ours:
        longest |= {name: max(ms, longest[name]) for name, ms in request.timeouts}
        names = ("protocol", "host", "port")
        request.send(*(f"${{__P({name}_${{{COIN}}},)}}" for name in names))
        request.limit(dict(usual_ms))
    return longest


def _measure_children(tree: etree._Element) -> bool:
    """Untick `Generate parent sample`; whether any was ticked."""
    name = "boolProp[@name='TransactionController.parent']"
    ticked = [it for it, _ in nodes.active(tree) if it.findtext(name) == "true"]
    for transaction in ticked:
        transaction.find(name).text = "false"
    return bool(ticked)


def _is_of(request: Asked, service: Place) -> bool:
    """What names no host and stands in a fragment has that of whoever runs the fragment."""
    is_of_any = not request.is_active and request.reason == NO_HOST
    return is_of_any or (request.host, request.port) == service


def _labels(
    plan: Plan, expander: Expander, ours: Collection[Asked]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """As Sided has them: (labels, elsewhere, straying). What a thread sends once comes while it
    warms up, and is not measured."""

    def names_of(requests: Iterable[Asked]) -> set[str]:
        return {expander.expand(it.element.get("testname", "")).shown for it in requests}

    def labels_of(samplers: Iterable[Sampler]) -> list[str]:
        return [*dict.fromkeys(it.label.text for it in samplers)]

    names, straying = names_of(ours), names_of(it for it in ours if it.may_stray)
    groups = [it for it in plan.groups if not (it.is_setup or it.is_teardown)]
    pairs = [(group, sampler) for group in groups for sampler in group.samplers]
    measured = labels_of(it for group, it in pairs if group.loops == 1 or not _is_once(it))
    sent = labels_of(it for _, it in pairs if it.kind != FLOW_CONTROL)
    return (
        tuple(it for it in measured if it in names),
        tuple(it for it in sent if it not in names),
        tuple(sorted(straying)),
    )


def _is_once(sampler: Sampler) -> bool:
    return any(it.kind == sessions.ONCE for it in sampler.controllers)


@dataclass(frozen=True)
class _Lasting:
    """why: what outlasts a turn of a thread group's threads. threads: how many it has."""

    why: str
    threads: int


def _sessions(
    root: Element, plan: Plan, properties: Mapping[str, str], processes: int
) -> list[_Lasting | None]:
    """Of each thread group, None of one each turn of which begins anew. processes: of both
    sides."""
    around = [it for it in root.active if not it.is_thread_group]
    expander, least = expander_of(root, properties), max(2 * FEWEST, processes)
    lasting: list[_Lasting | None] = []
    for each, group in zip(root.thread_groups, plan.groups, strict=True):
        kept = "" if group.loops == 1 else sessions.lasts(each, around)
        why = kept or sessions.long_loop(group)
        if each.kind in _SET_UP or not why:
            lasting.append(None)
            continue
        threads = group.threads or _threads(each, group, expander)
        if threads < least:
            has = "a pool, of which nobody knows how many" if group.is_pool else "none known"
            raise PlanError(
                f"{plan.path}: {why} outlasts a turn of the threads of {each.name!r}, so that all "
                f"a thread sends has to go to one side: give the group {least} threads or more, "
                f"{least // 2} a side (it has {threads or has}), or log in and clear the cookies "
                "in each turn"
            )
        lasting.append(_Lasting(why, threads))
    return lasting


def _threads(element: Element, group: ThreadGroup, expander: Expander) -> int:
    """Of a group of the plugins, as it says: of an Ultimate Thread Group in each row, of a
    Concurrency Thread Group as its target, which is a rate of those that keep a pool."""
    if group.is_pool:
        return 0
    cells = [*(row[:1] for row in element.rows), [element.props.get("TargetLevel", "")]]
    numbers = [expander.expand(it).value or "" for row in cells for it in row]
    return sum(int(it) for it in numbers if it.isdecimal())


def _toss(
    tree: etree._Element,
    lasting: Sequence[_Lasting | None],
    ours: Collection[etree._Element],
    processes: int,
    seed: int,
) -> None:
    """Give each thread group its coin. ours: what goes to the service. processes: of each side."""
    random, coins = np.random.default_rng(seed), 2 * processes
    for (group, below), its in zip([*nodes.groups(tree)], lasting, strict=True):
        if nodes.kind(group) in _SET_UP and any(it in ours for it in below.iter()):
            _for_each(group, below, coins)
        elif its:
            blocks = min(_MOST_BLOCKS, -(-its.threads // coins))
            order = [int(it) for _ in range(blocks) for it in random.permutation(coins)]
            _put_first(below, _coin_of_threads(order))
        else:
            _put_first(below, added("RandomVariableConfig"))


def _for_each(group: etree._Element, below: etree._Element, coins: int) -> None:
    """One group for each process, in the place of one for all."""
    for coin in range(coins):
        pair = copy.deepcopy(group), copy.deepcopy(below)
        side, number = ("base", "head")[coin % 2], coin // 2 + 1
        pair[0].set("testname", f"{group.get('testname', '')} {side} {number}")
        _put_first(pair[1], _coin_of_threads([coin]))
        group.addprevious(pair[0])
        group.addprevious(pair[1])
    group.getparent().remove(group)
    below.getparent().remove(below)


def _put_first(below: etree._Element, element: etree._Element) -> None:
    below.insert(0, element)
    below.insert(1, etree.Element("hashTree"))


def _coin_of_threads(order: Sequence[int]) -> etree._Element:
    """User Parameters, of which each thread of a group takes those of its own number."""
    parameters = added("UserParameters")
    values = parameters.find("collectionProp[@name='UserParameters.thread_values']")
    for number, coin in enumerate(order):
        row = etree.SubElement(values, "collectionProp", name=str(number))
        etree.SubElement(row, "stringProp", name="0").text = str(coin)
    return parameters


def _remarks(root: Element, plan: Plan, requests: Sequence[Asked], service: Place) -> Iterator[str]:
    """What stays as it is, and where the two sides may differ for the plan's own sake."""
    others = {it.place for it in requests if it.is_active and (it.host, it.port) != service}
    if others:
        yield f"asked as ever, and not compared: {some_of(sorted(others), _NAMED)}"
    elements = [*root.walk()]
    samplers = (it for it in elements if it.is_sampler and it.kind != FLOW_CONTROL)
    foreign = [it.title for it in samplers if not it.kind.startswith("HTTPSampler")]
    if foreign:
        yield f"no HTTP request, and goes where it always goes: {some_of(foreign, _NAMED)}"
    if loops := [it.title for it in elements if it.kind in sessions.ANSWERING]:
        yield (
            f"{some_of(loops, _NAMED)} may send more requests to one side than to the other, by "
            "what that answers: a request is compared with the same request all the same"
        )
    repeated = [each for group in plan.groups if group.loops != 1 for each in group.samplers]
    if once := [it.label.text for it in repeated if _is_once(it)]:
        yield f"sent once a thread, and not compared: {some_of(once, _NAMED)}"
    if any(it.kind == "CacheManager" for it in elements):
        yield (
            "an HTTP Cache Manager knows answers by their URL, and so holds those of each process "
            "by itself: more requests are sent than to one service"
        )
    if (shared := sessions.shares(root)) is not None:
        yield (
            f"{shared.title} passes values to other threads, which may ask the other side: a "
            "session among them would be refused there"
        )
    yield from _closed(plan)


def _closed(plan: Plan) -> Iterator[str]:
    groups = [it for it in plan.groups if not (it.is_setup or it.is_teardown)]
    others = (it for it in groups if it.kind != OPEN_MODEL and not it.is_pool)
    closed = [it.name for it in others if not any(each.arrival_timers for each in it.samplers)]
    if closed:
        yield (
            f"the threads of {some_of(closed, _NAMED)} wait for an answer before they ask again: a "
            "slower side is asked less often, and a stall is seen once a thread; arrivals that do "
            "not wait find smaller changes"
        )
