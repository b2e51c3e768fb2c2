"""Keeps secrets out of what a run writes: Taurus's log and settings, and the logs of JMeter."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import bzt.engine
from bzt.engine import Configuration

from tollgate.base import atomic
from tollgate.record.redaction import Redaction

#: What Taurus and JMeter leave beside samples, by name; a run's verdict is none of it.
_BY_PRODUCTS = ("*.log", "*.out", "*.err", "error*.jtl", "trace*.jtl", "modified_*.jmx")
_MERGED = "merged"


class RedactedSettings(Configuration):
    """Taurus's settings, which are written down without their secrets."""

    redaction: Redaction

    def dump(self, filename: str | None = None, fmt: str | None = None) -> None:
        """Write them; also where they are written nowhere yet, their secrets are known then."""
        shown = Configuration.from_dict(self.redaction.settings(self))
        shown.log, shown.dump_filename = self.log, self.dump_filename
        shown.dump(filename, fmt)


class RecordingEngine(bzt.engine.Engine):
    """Taurus's engine. redaction: of all that it logs and writes."""

    def __init__(self, parent_logger: logging.Logger, redaction: Redaction) -> None:
        super().__init__(parent_logger)
        self.redaction = redaction
        self.config = RedactedSettings()
        self.config.log = self.log.getChild(Configuration.__name__)
        self.config.redaction = redaction

    def create_artifacts_dir(
        self, existing_artifacts: Iterable[str] = (), merged_config: Configuration | None = None
    ) -> None:
        """Make the run's folder. Files of settings are copied there, those that hold a secret
        written anew without it, and so without their comments."""
        super().create_artifacts_dir()
        if merged_config:
            for fmt, suffix in ((Configuration.YAML, ".yml"), (Configuration.JSON, ".json")):
                self._shown(merged_config).dump(self.create_artifact(_MERGED, suffix), fmt)
        for file in existing_artifacts:
            settings = Configuration()
            settings.tab_replacement_spaces = self.config.tab_replacement_spaces
            settings.warn_on_tab_replacement = False
            settings.load([file])
            shown = self._shown(settings)
            if shown == settings:
                self.existing_artifact(file)
                continue
            fmt = Configuration.JSON if Path(file).suffix == ".json" else Configuration.YAML
            shown.dump(str(Path(self.artifacts_dir) / Path(file).name), fmt)

    def _shown(self, settings: Configuration) -> Configuration:
        return Configuration.from_dict(self.redaction.settings(settings))


def hide_in_log(redaction: Redaction) -> None:
    """Let every logger of this process hide what was redacted until then."""
    make = logging.getLogRecordFactory()

    def made(*fields: object, **more: object) -> logging.LogRecord:
        record = make(*fields, **more)
        record.msg, record.args = redaction.hide(record.getMessage()), ()
        if record.exc_info:
            record.exc_text = redaction.hide(logging.Formatter().formatException(record.exc_info))
        return record

    logging.setLogRecordFactory(made)


def hide_in_by_products(engine: RecordingEngine) -> None:
    """Hide what was redacted in the logs that a run has left, each replaced as a whole."""
    folder = Path(engine.artifacts_dir or "")
    paths = (it for by in _BY_PRODUCTS for below in ("", "*/") for it in folder.glob(below + by))
    for path in paths if engine.artifacts_dir else ():
        try:
            _rewrite(path, engine.redaction.hide)
        except OSError as problem:
            why = f"can't be written without them ({problem.strerror}): remove it"
            print(f"bzt: {path} may hold secrets and {why}", file=sys.stderr, flush=True)


def _rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Line by line, for a log may be of any size. What holds nothing to change is left alone."""
    kept: dict[str, Any] = {"encoding": "utf-8", "errors": "surrogateescape", "newline": ""}
    with path.open(**kept) as lines:
        if all(change(line) == line for line in lines):
            return
    with path.open(**kept) as old, atomic.replacing(path, **kept) as new:
        new.writelines(map(change, old))
