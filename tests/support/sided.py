"""A plan of somebody's own as it goes to two sides, for tests."""

from support import jmx_text as jmx
from tollgate.base.urls import Url
from tollgate.plan import nodes
from tollgate.plan.jmx import parsed
from tollgate.plan.sided import write_sided

SIDES = ([Url("http", "127.0.0.1", 3001)], [Url("https", "127.0.0.2", 3002)])
FOUR = tuple([Url("http", "127.0.0.1", port + it) for it in range(2)] for port in (3001, 3003))
USUAL = {"connect_timeout": 5000, "response_timeout": 10000}
#: As jmx_text writes names of properties.
HTTP = "HTTPSampler__"
TO_SIDES = {it: f"${{__P({it}_${{coin}},)}}" for it in ("protocol", "host", "port")}


def place(domain="shop.example", **more):
    return {f"{HTTP}{key}": value for key, value in {"domain": domain, **more}.items()}


def defaults(**props):
    return jmx.element("ConfigTestElement", "defaults", **props)


def cookies(clears, **props):
    kept = f'<boolProp name="CookieManager.clearEachIteration">{clears}</boolProp>'
    return jmx.element("CookieManager", "cookies", extra=kept, **props)


def once(*children):
    return jmx.element("OnceOnlyController", "once", children)


class Made:
    """A plan's copy, and what is said of it."""

    def __init__(self, folder, text, wanted="", sides=SIDES, seed=5, **properties):
        source, self.copy = folder / "theirs.jmx", folder / "sides" / "theirs.jmx"
        self.copy.parent.mkdir(exist_ok=True)
        source.write_text(text)
        self.told = write_sided(source, self.copy, properties, wanted, sides, USUAL, seed)
        self.tree = nodes.below_test_plan(parsed(self.copy))

    def asks(self, name):
        """Protocol, host, port and path of a request's own."""
        (found,) = self.tree.xpath(f".//HTTPSamplerProxy[@testname='{name}']")
        names = ("protocol", "domain", "port", "path")
        texts = (found.findtext(f"stringProp[@name='HTTPSampler.{it}']") for it in names)
        return tuple(it or "" for it in texts)

    def goes_to_sides(self, name):
        return self.asks(name)[:3] == tuple(TO_SIDES.values())

    def coins(self, name):
        """The coins of a group's threads in their order; None where it is tossed each turn."""
        (found,) = [it for it, _ in nodes.groups(self.tree) if it.get("testname") == name]
        first = found.getnext()[0]
        if first.tag == "RandomVariableConfig":
            return None
        rows = first.find("collectionProp[@name='UserParameters.thread_values']")
        return [int(it[0].text) for it in rows]
