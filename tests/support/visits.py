"""A plan of somebody's own that visits the shop of tests/services: a login, a list, an item,
a cart. JMeter's window would have saved it so."""

from support import jmx_text as jmx

#: Also of jmx.GUI, for elements that this plan alone has.
_GUI = {
    "CookieManager": "CookiePanel",
    "HeaderManager": "HeaderPanel",
    "JSONPostProcessor": "JSONPostProcessorGui",
    "OnceOnlyController": "OnceOnlyControllerGui",
    "ResponseAssertion": "AssertionGui",
}


def request(name, path, *children, method="GET", body=""):
    argument = (
        '<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp '
        'name="Arguments.arguments"><elementProp name="" elementType="HTTPArgument">'
        f'<boolProp name="HTTPArgument.always_encode">false</boolProp><stringProp '
        f'name="Argument.value">{body}</stringProp></elementProp></collectionProp></elementProp>'
        '<boolProp name="HTTPSampler.postBodyRaw">true</boolProp>'
    )
    props = {"HTTPSampler__path": path, "HTTPSampler__method": method}
    props["HTTPSampler__use_keepalive"] = "true"
    return jmx.sampler(name, *children, extra=argument if body else "", **props)


def extract(name, path):
    names = {"referenceNames": name, "jsonPathExprs": path, "match_numbers": "0"}
    props = {f"JSONPostProcessor__{key}": value for key, value in names.items()}
    return jmx.element("JSONPostProcessor", f"the {name}", **props)


def plan(port, *, threads=4, seconds=120, clears=True, once=False, pause_ms=20, around=()):
    """clears: whether each turn of a thread begins without cookies. once: whether it logs in once a
    thread."""
    login = request("login", "/login", method="POST", body='{"visitor":"${__threadNum}"}')
    if once:
        login = jmx.element("OnceOnlyController", "once", (login,))
    cookies = f'<boolProp name="CookieManager.clearEachIteration">{str(clears).lower()}</boolProp>'
    cookies += '<collectionProp name="CookieManager.cookies"/>'
    json = (
        '<collectionProp name="HeaderManager.headers"><elementProp name="" elementType="Header">'
        '<stringProp name="Header.name">Content-Type</stringProp>'
        '<stringProp name="Header.value">application/json</stringProp></elementProp>'
        "</collectionProp>"
    )
    place = {"domain": "127.0.0.1", "port": port, "protocol": "http"}
    defaults = {f"HTTPSampler__{key}": value for key, value in place.items()}
    visit = (
        login,
        request("list", "/items?page=${__Random(0,9)}", extract("id", "$.items[*].id")),
        jmx.simple(
            request("item", "/items/${id}"),
            request("put", "/cart/${id}", method="POST", body="{}"),
            request("cart", "/cart"),
            name="a cart",
        ),
        jmx.constant_timer(pause_ms),
    )
    group = jmx.group(
        *visit, name="visitors", threads=threads, duration=seconds, extra=jmx.main_loop(-1)
    )
    text = jmx.plan(
        jmx.element("ConfigTestElement", "the shop", **defaults),
        jmx.element("CookieManager", "cookies", extra=cookies),
        jmx.element("HeaderManager", "JSON", extra=json),
        *around,
        group,
    )
    for kind, gui in (_GUI | {"ConfigTestElement": "HttpDefaultsGui"}).items():
        text = text.replace(
            f"<{kind} testname=", f'<{kind} guiclass="{gui}" testclass="{kind}" testname='
        )
    return jmx.loadable(text)
