"""scripts/dev/screenshots takes pictures of each kind of run's page, in every size and colour."""

import struct
import zlib

import pytest

import support
from support import compare_folder, listed_runs, run_folder, study_folder
from tollgate.base.paths import SUITE
from tollgate.record import manifest
from tollgate.report import study as study_report
from tollgate.report.pages.run.write import write as write_page
from tollgate.report.pages.runs import build as runs_page

SCREENSHOTS = SUITE / "scripts" / "dev" / "screenshots"
PAGES = SUITE / "scripts" / "dev" / "pictures" / "pages.js"
pytestmark = [pytest.mark.needs("chromium", "a screen"), pytest.mark.long]


def check(folder):
    run_folder.make(folder)
    write_page(folder)


def soak(folder):
    made = run_folder.make(folder, run_folder.BROKEN)
    made.kind = "soak"
    manifest.write(made, folder)
    write_page(folder)


def study(folder):
    study_folder.make(folder)
    write_page(folder, study=study_report.write(folder))


def compare(folder):
    compare_folder.make(folder)
    write_page(folder)


def all_runs(folder):
    listed_runs.series(folder, [20.0, 21.0] * 6 + [40.0, 41.0] * 4)
    runs_page.write(folder)


KINDS = {"check": check, "soak": soak, "study": study, "compare": compare, "reports": all_runs}
VIEWS = [(width, scheme) for width in (1400, 390) for scheme in ("light", "dark")]


@pytest.fixture(scope="module")
def taken(tmp_path_factory):
    """The folder of the pictures, and what the script said."""
    folder = tmp_path_factory.mktemp("pictures")
    for kind, make in KINDS.items():
        (folder / kind).mkdir()
        make(folder / kind)
    runs = [folder / kind for kind in KINDS]
    plan = SUITE / "plans" / "check.jmx"
    return folder / "to", support.run(SCREENSHOTS, "--to", folder / "to", *runs, plan)


def size(picture):
    """Width and height of a PNG."""
    return struct.unpack(">II", picture.read_bytes()[16:24])


def test_it_says_which_pictures_it_took(taken):
    folder, done = taken
    assert done.returncode == 0, done.stderr
    names = {f"{kind}-{width}-{scheme}.png" for kind in KINDS for width, scheme in VIEWS}
    assert {it.name for it in folder.iterdir()} == names | {"check.png"}
    assert all(str(folder / name) in done.stdout for name in names)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_a_picture_is_as_wide_as_its_screen_and_shows_all_of_the_page(taken, kind, width, scheme):
    picture = taken[0] / f"{kind}-{width}-{scheme}.png"
    assert size(picture)[0] == width
    assert size(picture)[1] > 900
    assert picture.stat().st_size > 20_000, "one colour all over compresses to next to nothing"


def test_light_and_dark_are_two_pictures(taken):
    for kind in KINDS:
        light, dark = (taken[0] / f"{kind}-1400-{it}.png" for it in ("light", "dark"))
        assert size(light) == size(dark)
        assert light.read_bytes() != dark.read_bytes()


def test_a_plan_fills_its_picture_in_few_colours(taken):
    picture = taken[0] / "check.png"
    assert size(picture) == (1280, 800)
    assert 10_000 < picture.stat().st_size < 200_000
    assert len(set(indices(picture))) > 20


def test_a_picture_for_a_readme_is_small_and_of_the_top_alone(tmp_path):
    all_runs(tmp_path)
    done = support.run("node", PAGES, "--top", "700", f"{tmp_path}/index.html={tmp_path}/runs")
    assert done.returncode == 0, done.stderr
    picture = tmp_path / "runs.png"
    assert size(picture) == (1400, 700)
    assert picture.stat().st_size < 200_000
    assert len(set(indices(picture))) > 8


def indices(picture):
    """The indices of all pixels of a PNG with a palette, as the script writes it."""
    content = picture.read_bytes()
    assert content[24:26] == bytes([8, 3])
    begin = content.index(b"IDAT")
    (length,) = struct.unpack(">I", content[begin - 4 : begin])
    rows = zlib.decompress(content[begin + 4 : begin + 4 + length])
    width, height = size(picture)
    return b"".join(rows[1 + y * (width + 1) : (y + 1) * (width + 1)] for y in range(height))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("<p style='width: 900px'>wide</p>", "at 390 px, light: it is 5"),
        ("<p>one</p><script>throw new Error('broken')</script>", "light: Error: broken"),
        ("<p>two</p><script>console.error('odd')</script>", "light: odd"),
        ("<p>three</p><img src='gone.png'>", "light: Failed to load resource"),
        ("", "light: there is nothing to be seen"),
    ],
)
def test_a_page_that_is_not_as_it_should_be_is_refused(body, problem, tmp_path):
    page = tmp_path / "index.html"
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{body}")
    done = support.run("node", PAGES, f"{page}={tmp_path / 'picture'}")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert problem in done.stderr


def test_folders_with_an_equals_sign_in_their_names_are_found(tmp_path):
    folder = tmp_path / "a=b"
    folder.mkdir()
    (folder / "index.html").write_text("<!DOCTYPE html><meta charset=utf-8><p>one</p>")
    picture = folder / "c=d"
    done = support.run("node", PAGES, "--top", "200", f"{folder}/index.html={picture}")
    assert done.returncode == 0, done.stderr
    assert size(folder / "c=d.png") == (1400, 200)


def test_a_run_without_a_page_is_refused_with_what_makes_one(tmp_path):
    done = support.run(SCREENSHOTS, "--to", tmp_path / "to", tmp_path)
    assert done.returncode == 1
    assert f"`tollgate report {tmp_path}` makes it" in done.stderr
