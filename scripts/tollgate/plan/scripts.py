"""What scripts in a plan may do to it as it runs, as far as their text shows. Pure.

Source: JMeter's manual, Component Reference, "JSR223 PostProcessor"; SampleResult.setIgnore.
"""

from __future__ import annotations

import re

from tollgate.plan.jmx import Element
from tollgate.plan.model import SCRIPTS

#: What a script calls to keep a sample out of the JTL.
_IGNORE = re.compile(r"[Ii]gnore")


def may_ignore_samples(element: Element) -> bool:
    """Whether the element is a script that may keep samples out of the JTL."""
    # A script in a file, `filename` or `BeanShellSampler.filename`, may do anything.
    return element.kind.startswith(SCRIPTS) and any(
        _IGNORE.search(text) or (name.endswith("filename") and text.strip())
        for name, text in element.props.items()
    )
