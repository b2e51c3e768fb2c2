import pytest

from support import jmx_text as jmx
from support.jmx_text import include
from tollgate.plan import copy as plan_copy
from tollgate.plan.jmx import PlanError
from tollgate.plan.read import read_plan


def plan(*children):
    return jmx.plan(jmx.group(*children))


def fragment(*children):
    return jmx.document(jmx.fragment(*children))


A, FRAGMENT_A = plan(jmx.sampler("a")), fragment(jmx.sampler("a"))


class Copied:
    """A plan, and its copy in the folder of a run."""

    def __init__(self, plan, run):
        self.plan, self.run, self.at = plan, run, plan_copy.copy(plan, run, "own")

    def files(self):
        files = (it for it in (self.run / "plan").rglob("*") if it.is_file())
        return sorted(str(it.relative_to(self.run / "plan")) for it in files)

    def read(self):
        return read_plan(self.run / self.at, {})


@pytest.fixture
def copied(tmp_path):
    """Writes plans/NAME.jmx for each given, and copies plans/check.jmx."""

    def write(**texts):
        for name, text in texts.items():
            file = tmp_path / "plans" / f"{name.replace('__', '/')}.jmx"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (tmp_path / "run").mkdir()
        return Copied(tmp_path / "plans" / "check.jmx", tmp_path / "run")

    return write


def test_a_plan_is_copied_to_the_last_byte_under_its_own_name(copied):
    made = copied(check=A + "\n<!-- é -->\r\n")
    assert made.at == "plan/check.jmx"
    assert (made.run / made.at).read_bytes() == made.plan.read_bytes()


def test_fragments_are_copied_with_their_folders_and_their_own_fragments(copied):
    made = copied(
        check=plan(include("fragments/a.jmx"), include("fragments/a.jmx")),
        fragments__a=fragment(jmx.sampler("a"), include("fragments/deep/b.jmx")),
        fragments__deep__b=fragment(jmx.sampler("b")),
        fragments__unused=fragment(jmx.sampler("c")),
    )
    assert made.files() == ["check.jmx", "fragments/a.jmx", "fragments/deep/b.jmx"]
    assert set(made.read().labels) == {"a", "b"}


def test_the_copy_of_a_plan_reads_like_the_plan(copied):
    made = copied(check=plan(jmx.timer(), include("fragments/a.jmx")), fragments__a=FRAGMENT_A)
    assert made.read().groups == read_plan(made.plan, {}).groups


def test_two_plans_of_one_run_share_a_fragment(copied):
    shared = plan(include("fragments/a.jmx"))
    made = copied(check=shared, load=shared, fragments__a=FRAGMENT_A)
    plan_copy.copy(made.plan.with_name("load.jmx"), made.run, "load")
    assert made.files() == ["check.jmx", "fragments/a.jmx", "load.jmx"]


def test_a_plan_and_what_lies_outside_of_its_folder_stand_to_each_other_as_they_did(
    copied, tmp_path
):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "a.jmx").write_text(FRAGMENT_A)
    made = copied(check=plan(include("../shared/a.jmx")))
    assert made.at == "plan/plans/check.jmx"
    assert made.files() == ["plans/check.jmx", "shared/a.jmx"]
    assert made.read().labels == ("a",)


def test_what_an_absolute_path_names_is_not_copied(copied, tmp_path):
    (tmp_path / "a.jmx").write_text(FRAGMENT_A)
    made = copied(check=plan(include(str(tmp_path / "a.jmx"))))
    assert (made.at, made.files()) == ("plan/check.jmx", ["check.jmx"])


@pytest.mark.parametrize("path", ["fragments/none.jmx", "", "${where}", "fragments"])
def test_an_include_that_cannot_be_found_is_left_for_reading_to_refuse(copied, path):
    assert copied(check=plan(include(path)), fragments__a=fragment()).files() == ["check.jmx"]


def test_a_file_that_is_not_xml_is_copied_and_left_for_reading_to_refuse(copied):
    with pytest.raises(PlanError, match="not well-formed"):
        copied(check="<jmeterTestPlan>").read()


@pytest.mark.parametrize("path", ["fragments/a.jmx", "check.jmx"])
def test_a_circle_of_fragments_ends(copied, path):
    circle = fragment(jmx.sampler("a"), include(path))
    made = copied(check=plan(include("fragments/a.jmx")), fragments__a=circle)
    assert made.files() == ["check.jmx", "fragments/a.jmx"]


def test_two_plans_of_one_name_that_differ_have_folders_of_their_own(copied):
    made = copied(check=A)
    # The same plan in two modes is what a run is.
    assert plan_copy.copy(made.plan, made.run, "again") == made.at
    made.plan.write_text(plan(jmx.sampler("b")))
    assert plan_copy.copy(made.plan, made.run, "other") == "plan/other/check.jmx"
    assert made.files() == ["check.jmx", "other/check.jmx"]
    assert read_plan(made.run / "plan" / "other" / "check.jmx", {}).labels == ("b",)
