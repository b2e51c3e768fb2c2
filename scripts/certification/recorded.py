"""The samples of finished runs, as the gate saw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from certification.store import NAME, Run, StoreError
from tollgate.compare import Blocks, CompareRecord, record, samples
from tollgate.run import manifest


def blocks_of(store: Path, run: Run) -> tuple[Blocks, ...]:
    """Each label's blocks, until the moment at which the run was decided: what came after that
    took no part. Raises JtlError, ManifestError, for a run whose samples are not what it left, and
    StoreError for one that compared something else than the same code."""
    folder = store / run.folder
    made = manifest.read(folder)
    compared = record.read(folder)
    if not same_code(compared):
        raise StoreError(
            f"{folder} compared {compared.base.told} with {compared.head.told}, which are not the "
            f"same code: take the line of run {run.number} out of {store / NAME}"
        )
    (execution,) = (it for it in made.executions if it.name == compared.execution)
    manifest.check_seal(execution, folder)
    until_s = compared.decided_s or compared.settings.budget_s
    jtl = folder / execution.jtl
    return samples.read(jtl, labels_of(run.findings), execution.warmup, until_s).blocks


def labels_of(findings: Sequence[Mapping]) -> list[str]:
    """The labels that were compared, in their order."""
    return list(dict.fromkeys(finding["label"] for finding in findings))


def same_code(compared: CompareRecord) -> bool:
    """Whether base and head were the same commit, which a working tree with changes is not."""
    return compared.base.revision is not None and compared.base.revision == compared.head.revision
