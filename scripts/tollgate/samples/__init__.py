"""kpi.jtl. The only room with SQL.

In: a JTL as JMeter wrote it. Out: exact counts and columns; a bad line is refused with its number.
"""

from __future__ import annotations

from tollgate.samples import lost
from tollgate.samples.check import RECORD_BYTES
from tollgate.samples.clock import step_back
from tollgate.samples.counts import Label, transaction_sql, valid_sql
from tollgate.samples.groups_seen import thread_groups
from tollgate.samples.jtl import Jtl, peek_test_start, read_jtl
from tollgate.samples.layout import JtlError, Layout, read_layout, shown
from tollgate.samples.lost import with_losses
from tollgate.samples.order import TOLERANCE_MS, Step, early_step, largest
from tollgate.samples.reading import column, database, read_into, text
from tollgate.samples.samples import Samples, read_samples
from tollgate.samples.single import BATCH, Batch, SampleBatches, open_batches
from tollgate.samples.threads import read_threads
from tollgate.samples.threads_ended import ThreadRows, longest_gaps, thread_rows
from tollgate.samples.waits import Key, Sent, read_sent

__all__ = [
    "BATCH",
    "RECORD_BYTES",
    "TOLERANCE_MS",
    "Batch",
    "Jtl",
    "JtlError",
    "Key",
    "Label",
    "Layout",
    "SampleBatches",
    "Samples",
    "Sent",
    "Step",
    "ThreadRows",
    "column",
    "database",
    "early_step",
    "largest",
    "longest_gaps",
    "lost",
    "open_batches",
    "peek_test_start",
    "read_into",
    "read_jtl",
    "read_layout",
    "read_samples",
    "read_sent",
    "read_threads",
    "shown",
    "step_back",
    "text",
    "thread_groups",
    "thread_rows",
    "transaction_sql",
    "valid_sql",
    "with_losses",
]
