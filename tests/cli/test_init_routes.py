"""The paths that `tollgate init` finds in the source of a service."""

from pathlib import Path

import pytest

from tollgate.cli.init.routes import routes_of

APP = "const express = require('express'); const app = express();\n"
ROUTER = "const express = require('express'); const router = express.Router();\n"
ITEMS = ROUTER + "router.get('/', all); router.get('/new', one); module.exports = router;"


def routes(**files):
    sources = {name.replace("__", "/"): text for name, text in files.items()}
    return [*routes_of({Path("/shop") / f"{name}.js": text for name, text in sources.items()})]


@pytest.mark.parametrize(
    "main",
    [
        "const items = require('./routes/items'); app.use('/items', items);",
        "app.use('/items', signed(), require('./routes/items'))\napp.get('/healthz', well)",
        "import items from './routes/items.js'\napp.use(\n  '/items',\n  items,\n)",
        "const { router: items } = require('./routes/items'); app.use('/items', items);",
        "import { router as items } from './routes/items'; app.use('/items', items);",
        "const all = express.Router(); all.use('/items', require('./routes/items')); app.use(all);",
    ],
)
def test_the_routes_of_a_router_are_below_what_it_is_mounted_at(main):
    found = routes(main=APP + main, routes__items=ITEMS)
    assert [it for it in found if it != "/healthz"] == ["/items", "/items/new"]


def test_routers_hang_below_routers_and_in_several_places():
    index = ROUTER + "router.use('/items', require('./items')); module.exports = router;"
    main = APP + "app.use('/v1', require('./routes')); app.use('/v2', require('./routes'));"
    found = routes(main=main, routes__index=index, routes__items=ITEMS)
    assert found == ["/v1/items", "/v2/items", "/v1/items/new", "/v2/items/new"]


def test_of_a_file_with_several_routers_what_is_exported_is_mounted_elsewhere():
    both = "const { Router } = require('express'); const api = Router(), sub = 1;\n"
    both += "const inner = Router(); inner.get('/in', one); api.get('/out', one);"
    both += "api.use('/inner', inner); module.exports = api;"
    assert routes(main=APP + "app.use('/api', require('./both'));", both=both) == [
        "/api/inner/in",
        "/api/out",
    ]


@pytest.mark.parametrize(
    "main",
    [
        "app.use(`${base}/items`, require('./routes/items'));",
        "app.use(config.apiPrefix, require('./routes/items'));",
        "for (const file of readdirSync('routes')) app.use(file, load(file));",
    ],
)
def test_a_router_that_is_mounted_out_of_sight_has_no_route_that_is_known(main):
    assert routes(main=APP + main, routes__items=ITEMS) == []


def test_routers_that_hang_in_a_ring_end():
    ring = ROUTER + "const two = express.Router(); two.get('/a', one);"
    assert routes(ring=ring + "router.use('/r', two); two.use('/t', router);") == []


def test_apps_and_what_is_no_router_answer_where_they_say():
    plain = "module.exports = (app) => { app.get('/plain', one); app.route('/x').get(one); }"
    whole = APP + "express().get('/chained', one); app.get('/', one);"
    assert routes(express=plain + "// express", main=whole) == ["/plain", "/chained", "/"]


def test_a_router_of_koa_has_a_prefix_of_its_own():
    koa = "const Router = require('@koa/router'); const items = new Router({ prefix: '/items' });\n"
    koa += "items.get('/', all); app.use(items.routes()).use(items.allowedMethods());"
    assert routes(main=koa) == ["/items"]
