"""`check`: each label at its part of a constant rate, arrivals at random times."""

from __future__ import annotations

import math
from collections.abc import Iterator

from lxml import etree

from tollgate.service import xml
from tollgate.service.elements import Labelled, Parts

_LENGTH = "${__intSum(${__P(warmup,5)},${__P(measured,30)})}"
#: Seconds that each arrival may keep a thread without the next one waiting for it.
_PATIENCE_S = 2.0
_FEWEST_THREADS = 20
#: Of the first label; the next ones have the numbers behind it.
_SEED = 11
_COMMENT = (
    "A constant-rate open load. Each thread group has one timer that deals out the arrivals of its "
    "label; a seed other than 0 makes them the same in each run."
)


def make(parts: Parts) -> etree._ElementTree:
    """The plan of `check` for a service."""
    groups = [it for place in range(len(parts.requests)) for it in _group(parts, place)]
    return xml.plan(parts.name, _COMMENT, [*parts.everywhere, *groups])


def _group(parts: Parts, place: int) -> Iterator[etree._Element]:
    request = parts.requests[place]
    rate = parts.rate * parts.weights[request.slug]
    threads = max(_FEWEST_THREADS, math.ceil(rate * (_PATIENCE_S + request.pause_s)))
    slug, timer = request.slug, _timer(request, rate, _SEED + place)
    inside = xml.on_first_sampler(request.copies, timer)
    one = xml.controller(f"one {request.label} an arrival", inside)
    number, ramp = f"${{__P({slug}_threads,{threads})}}", "${__P(warmup,5)}"
    return xml.thread_group(request.label, number, ramp, _LENGTH, one)


def _timer(request: Labelled, rate: float, seed: int) -> Iterator[etree._Element]:
    slug = request.slug
    inside = (
        xml.props("intProp", exactLimit=10000, throughputPeriod=1, batchSize=1, batchThreadDelay=0)
        + "<doubleProp><name>allowedThroughputSurplus</name><value>1.0</value>"
        "<savedValue>0.0</savedValue></doubleProp>"
        + xml.props(
            throughput=f"${{__P({slug}_rate,{rate:.6g})}}",
            duration=_LENGTH,
            randomSeed=f"${{__P({slug}_seed,{seed})}}",
        )
    )
    name = f"{request.label} arrivals"
    return xml.element("PreciseThroughputTimer", "TestBeanGUI", name, inside)
