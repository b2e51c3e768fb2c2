"""The one loop of interim decisions: what the samples of the executions that send show so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bzt.engine import Engine, EngineModule

from tollgate.gather.context import ExecutionContext, contexts
from tollgate.samples.layout import JtlError
from tollgate.samples.watch import SampleWatch
from tollgate.taurus.shared import is_running, samples_of, under_way


def with_contexts(engine: Engine) -> Iterator[tuple[Any, ExecutionContext]]:
    """Each executor with what its samples are judged with, by what `verdict` has recorded."""
    judged_with = contexts(Path(engine.artifacts_dir), under_way(engine).manifest)
    return zip(engine.provisioning.executors, judged_with, strict=True)


def watches(
    module: EngineModule, decider_of: Callable[[ExecutionContext], Any]
) -> dict[Any, SampleWatch]:
    """What follows the samples of each executor for which there is a decider."""
    return {
        executor: SampleWatch(decider, samples_of(module.engine, executor))
        for executor, context in with_contexts(module.engine)
        if (decider := decider_of(context))
    }


def decisions(
    module: EngineModule, name: str, watches: Mapping[Any, SampleWatch]
) -> Iterator[tuple[Any, Any]]:
    """(executor, what was found) where samples were due to be evaluated. name: of the module."""
    for executor, watch in watches.items():
        if not is_running(executor) or executor.is_over:
            continue
        try:
            found = watch.look()
        except JtlError as problem:  # `verdict` will say so; until then there is no harm in load
            module.log.warning("%s: the samples can't be read: %s", name, problem)
            continue
        if found is not None:
            yield executor, found
