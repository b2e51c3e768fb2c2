"""The record of a run.

In: what bzt is about to do. Out: run.json, sealed and without secrets, and the environment in it.
"""

from __future__ import annotations

from tollgate.run import engines, environment, manifest, secrecy, shards
from tollgate.run.divided import Part, Remote, divide
from tollgate.run.environment import GENERATOR, SERVICE, cpu_model, fingerprint, jmeter_version
from tollgate.run.looks import LEAST_S, Looks
from tollgate.run.manifest import (
    NAME,
    Engine,
    Execution,
    Manifest,
    ManifestError,
    Share,
    Stop,
    check_seal,
    digest,
    is_sealed,
)
from tollgate.run.redaction import MARK, Redaction

__all__ = [
    "GENERATOR",
    "LEAST_S",
    "MARK",
    "NAME",
    "SERVICE",
    "Engine",
    "Execution",
    "Looks",
    "Manifest",
    "ManifestError",
    "Part",
    "Redaction",
    "Remote",
    "Share",
    "Stop",
    "check_seal",
    "cpu_model",
    "digest",
    "divide",
    "engines",
    "environment",
    "fingerprint",
    "is_sealed",
    "jmeter_version",
    "manifest",
    "secrecy",
    "shards",
]
