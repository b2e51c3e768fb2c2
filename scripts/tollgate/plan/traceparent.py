"""`traceparent` on each request of a plan, by which a service's own tracing finds it.

User Parameters draw a half of a trace id before each sampler, and the samples have it beside them;
the other half is when JMeter began. A Header Manager sends both, and the drawn half once more as
the parent id: the hops of a redirect and the resources of a page tell the trace of the sampler that
asked for them. Source: W3C Trace Context, "traceparent Header"; JMeter's manual, "User Parameters"
and "HTTP Header Manager".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lxml import etree

from tollgate.plan import nodes
from tollgate.plan.copy import with_includes
from tollgate.plan.jmx import Element, added, parsed, read_tree, write

#: The property that says how it is sent, and the flags of each way, None to send none. YAML 1.1 has
#: `off` for false.
PROPERTY, USUAL = "traceparent", "unsampled"
WAYS = {USUAL: "00", "sampled": "01", "off": None, "False": None}
#: The variable, and so the column of a JTL: samples/reading.py reads it.
VARIABLE = "tollgate_trace"
_HEADER = b"traceparent"


def send(path: Path, plan: Path, properties: Mapping[str, str], flags: str) -> bool:
    """Write a plan anew with the header; False where a request has one of its own, so that none is
    added. plan: that the path is a copy of. Raises PlanError."""
    root = read_tree(plan, properties)
    scripts = [plan.parent / name for each in root.walk() for name in each.files if each.is_script]
    files = [path, *with_includes(plan), *(it for it in scripts if it.is_file())]
    if any(_HEADER in file.read_bytes().lower() for file in files):
        return False
    header, drawing = added("HeaderManager"), added("UserParameters[@testname='trace']")
    value = header.find(".//stringProp[@name='Header.value']")
    value.text = f"{value.text.removesuffix('00')}{flags}"
    own = [drawing, etree.Element("hashTree")]
    if any(map(_joins_rows, root.walk())):
        # JMeter writes the rows at once, with what its variables hold by then.
        draws = drawing.findtext("collectionProp[@name='UserParameters.thread_values']//stringProp")
        value.text, own = value.text.replace(f"${{{VARIABLE}}}", draws), []
    document = parsed(path)
    nodes.below_test_plan(document)[:0] = [*own, header, etree.Element("hashTree")]
    write(document, path)
    return True


def _joins_rows(element: Element) -> bool:
    """Whether several requests below it become one sample."""
    is_parent = element.props.get("TransactionController.parent", "false") != "false"
    return is_parent or element.kind == "ParallelSampler"
