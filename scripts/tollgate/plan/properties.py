"""Which of JMeter's properties say what a sample is, and how it is written. Pure.

A verdict reads samples as JMeter makes them by its own defaults, and the plan as JMeter runs it by
those. Source: JMeter 5.6.3, bin/jmeter.properties, and what its classes make of each property.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping

from tollgate.base.settings import SettingError

_DELIMITER = "jmeter.save.saveservice.default_delimiter"
#: With which samples are made and written, whatever else says otherwise; empty for none.
_OF_SAMPLES = {
    "sampleresult.timestamp.start": "true",
    "sampleresult.useNanoTime": "true",
    "sampleresult.nanoThreadSleep": "5000",
    "subresults.disable_renaming": "false",
    # Of the others of their kind, the listener that writes a run's samples has its own.
    _DELIMITER: ",",
    "jmeter.save.saveservice.timestamp_format": "ms",
    "jmeter.save.saveservice.connect_time": "true",  # Taurus says so in each run
    # A sample is one request.
    "httpclient4.retrycount": "0",
    "httpclient4.request_sent_retry_enabled": "false",
    "http.java.sampler.retries": "0",
    "summariser.name": "",
}
#: With another value of these a plan does something else than it says.
_OF_PLANS = {
    "timer.factor": "1.0",
    "csvdataset.eofstring": "<EOF>",
    "includecontroller.prefix": "",
}
_FIXED = _OF_SAMPLES | _OF_PLANS
#: Others by which samples are written. When they are is for the run to say.
_WRITING = re.compile(r"(jmeter\.save\.saveservice\.(?!autoflush$)|summariser\.).*")
#: JMeter takes the last of its arguments, which goes before all of its files.
ARGUMENTS = tuple(f"-J{name}={value}" for name, value in _FIXED.items())


def leave_out(properties: MutableMapping[str, object], where: str) -> str:
    """Take out those that a run sets itself, or has no use for. Returns a line on the ones with
    another value, empty for none. where: they stand. Raises SettingError."""
    taken = {name: it for name, it in properties.items() if name in _FIXED or _WRITING.match(name)}
    for name in taken:
        del properties[name]
    others = {name: str(it) for name, it in taken.items() if not _is_fixed(name, str(it))}
    for name in others.keys() & _OF_PLANS.keys():
        raise SettingError(
            f"{where}: {name}={others[name]} has the plan do something else than it says, and it "
            "is judged by what it says: leave the property out, and change the plan"
        )
    stated = ", ".join(f"{name}={it}" for name, it in others.items())
    return stated and (
        f"{where}: {stated} is left out, for a verdict reads samples as JMeter makes and writes "
        "them without it: remove it"
    )


def _is_fixed(name: str, value: str) -> bool:
    """Whether a run has it so anyway."""
    fixed = _FIXED.get(name)
    exactly = name == _DELIMITER or fixed is None
    return value == fixed if exactly else value.strip().lower() == str(fixed).lower()
