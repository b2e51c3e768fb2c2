"""kpi.jtl, read once. The only room with SQL.

In: a JTL as JMeter wrote it. Out: a Store of typed samples, and what it answers: exact counts and
arrays; a bad line is refused with its number.
"""

from __future__ import annotations

from tollgate.samples import lost
from tollgate.samples.check import RECORD_BYTES
from tollgate.samples.counts import Jtl, Label, read_jtl
from tollgate.samples.layout import JtlError, peek_test_start, read_layout, shown
from tollgate.samples.lost import with_losses
from tollgate.samples.order import TOLERANCE_MS, Step, early_step, largest, step_back
from tollgate.samples.requests import (
    block_answers,
    block_spans,
    check_coins,
    coin_counts,
    last_start_ms,
    require,
    step_counts,
    trial_answers,
    window_counts,
)
from tollgate.samples.single import Batch, SampleBatches, Samples, read_samples
from tollgate.samples.split import copy_until, split
from tollgate.samples.store import Growing, Store, open_store, using
from tollgate.samples.threads import (
    Key,
    Sent,
    ThreadRows,
    longest_gaps,
    read_sent,
    read_threads,
    thread_groups,
    thread_rows,
)

__all__ = [
    "RECORD_BYTES",
    "TOLERANCE_MS",
    "Batch",
    "Growing",
    "Jtl",
    "JtlError",
    "Key",
    "Label",
    "SampleBatches",
    "Samples",
    "Sent",
    "Step",
    "Store",
    "ThreadRows",
    "block_answers",
    "block_spans",
    "check_coins",
    "coin_counts",
    "copy_until",
    "early_step",
    "largest",
    "last_start_ms",
    "longest_gaps",
    "lost",
    "open_store",
    "peek_test_start",
    "read_jtl",
    "read_layout",
    "read_samples",
    "read_sent",
    "read_threads",
    "require",
    "shown",
    "split",
    "step_back",
    "step_counts",
    "thread_groups",
    "thread_rows",
    "trial_answers",
    "using",
    "window_counts",
    "with_losses",
]
