"""The plans that Tollgate writes of a service, byte for byte."""

import pytest

from support import golden
from support.services_described import SHOP, parts
from tollgate.base.paths import SUITE
from tollgate.plan import jmx
from tollgate.service import xml
from tollgate.service.shapes import SHAPES

#: Beside which plans are written: they name files of data from there.
FOLDER = SUITE / "reports"
#: With data, a file's fragment, and a label of what XML escapes, in an attribute as well.
RICH = {
    **{"data-sources": ["data/sum.csv"], "headers": {"Accept": "text/html"}, "rate": "36/min"},
    "requests": [
        *SHOP["requests"],
        {"include": "plans/fragments/sum.jmx", "weight": 0.7},
        {"label": "a \"b\" & 'c' <d>\n\té}}", "url": "/a?b=${b}&c=<d>", "weight": 2},
    ],
}
#: Each arrival of which is one request.
PLAIN = {"requests": SHOP["requests"][:2], "rate": "250/s"}


@pytest.mark.parametrize(
    ("name", "shape", "described"),
    [*((shape, shape, RICH) for shape in SHAPES), ("capacity-plain", "capacity", PLAIN)],
)
def test_the_plan_of_a_shape_is_the_golden_one(tmp_path, name, shape, described):
    path = tmp_path / "written.jmx"
    jmx.write(SHAPES[shape](parts(FOLDER, **described)), path)
    text = path.read_text(encoding="utf-8").replace(f"{SUITE}/", "SUITE/")
    golden.check_file(f"plans/{name}.jmx", text)


def test_the_file_of_a_fragment_is_the_golden_one():
    rich = parts(FOLDER, **RICH).requests[-1]
    golden.check_file("plans/fragment.jmx", xml.fragment(rich.label, rich.elements))
