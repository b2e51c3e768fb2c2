"""What evidence.py gathers about parts of the plan that left no sample."""

from __future__ import annotations

from dataclasses import replace

from tollgate.judge.facts import ExecutionFacts
from tollgate.judge.missing_samples import silent_parts
from tollgate.plan.model import Plan
from tollgate.samples.counts import Jtl
from tollgate.samples.store import Store
from tollgate.samples.threads import thread_groups


def with_silent(
    facts: ExecutionFacts, plan: Plan, store: Store, jtl: Jtl, until_s: float | None
) -> ExecutionFacts:
    """The facts with what of the plan left no sample, of which jtl has the counts; as they are
    where the run was interrupted or stopped early, for then much may be. until_s: when the load was
    ended before its time. Raises JtlError and OSError."""
    if facts.interrupted or facts.stopped_by:
        return facts
    labels = {*jtl.samplers, *jtl.transactions}
    found = silent_parts(plan, labels, lambda: thread_groups(store), until_s)
    return replace(facts, silent=found.faults, notes=(*facts.notes, *found.doubts))
