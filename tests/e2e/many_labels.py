"""Writes a plan whose samplers take their labels and paths from a file."""

from support import jmx_text as jmx


def plan_of_labels(plan, rows, threads=1):
    """A plan that sends a request for each (label, path), one after another in each thread."""
    data = plan.with_suffix(".csv")
    data.write_text("item,path\n" + "".join(f"{label},{path}\n" for label, path in rows))
    feed = {"filename": data.name, "delimiter": ",", "recycle": "false"}
    items = jmx.element("CSVDataSet", "items", **feed, shareMode="shareMode.all")
    loops = len(rows) // threads
    users = jmx.looping(items, jmx.get("${item}", "${path}"), threads=threads, loops=loops)
    plan.write_text(jmx.loadable(jmx.plan(users)))
    return str(plan)
