import pytest

import jmx_text as jmx
from tollgate.plan import copy as plan_copy
from tollgate.plan.jmx import PlanError
from tollgate.plan.read import read_plan


def include(path):
    return jmx.element("IncludeController", "inc", IncludeController__includepath=path)


def fragment(*children):
    return jmx.document(jmx.element("TestFragmentController", "fragment", children))


@pytest.fixture
def plans(tmp_path):
    """Writes plans/NAME for each given, and tells where they are and where the run is."""

    def write(**texts):
        folder = tmp_path / "plans"
        for name, text in texts.items():
            file = folder / f"{name.replace('__', '/')}.jmx"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (tmp_path / "run").mkdir(exist_ok=True)
        return folder, tmp_path / "run"

    return write


def copied(run):
    return sorted(
        str(each.relative_to(run / "plan")) for each in (run / "plan").rglob("*") if each.is_file()
    )


def test_a_plan_is_copied_to_the_last_byte_under_its_own_name(plans):
    folder, run = plans(check=jmx.plan(jmx.group(jmx.sampler("a"))) + "\n<!-- é -->\r\n")
    assert plan_copy.copy(folder / "check.jmx", run) == "plan/check.jmx"
    assert (run / "plan/check.jmx").read_bytes() == (folder / "check.jmx").read_bytes()


def test_fragments_are_copied_with_their_folders_and_their_own_fragments(plans):
    folder, run = plans(
        check=jmx.plan(jmx.group(include("fragments/a.jmx"), include("fragments/a.jmx"))),
        fragments__a=fragment(jmx.sampler("a"), include("fragments/deep/b.jmx")),
        fragments__deep__b=fragment(jmx.sampler("b")),
        fragments__unused=fragment(jmx.sampler("c")),
    )
    plan = read_plan(run / plan_copy.copy(folder / "check.jmx", run), {})
    assert copied(run) == ["check.jmx", "fragments/a.jmx", "fragments/deep/b.jmx"]
    assert set(plan.labels) == {"a", "b"}


def test_the_copy_of_a_plan_reads_like_the_plan(plans):
    folder, run = plans(
        check=jmx.plan(jmx.group(jmx.timer(), include("fragments/a.jmx"))),
        fragments__a=fragment(jmx.sampler("a")),
    )
    copy = plan_copy.copy(folder / "check.jmx", run)
    assert read_plan(run / copy, {}).groups == read_plan(folder / "check.jmx", {}).groups


def test_two_plans_of_one_run_share_a_fragment(plans):
    shared = jmx.group(include("fragments/a.jmx"))
    folder, run = plans(
        check=jmx.plan(shared), load=jmx.plan(shared), fragments__a=fragment(jmx.sampler("a"))
    )
    for name in ("check.jmx", "load.jmx"):
        plan_copy.copy(folder / name, run)
    assert copied(run) == ["check.jmx", "fragments/a.jmx", "load.jmx"]


def test_a_plan_and_what_lies_outside_of_its_folder_stand_to_each_other_as_they_did(
    plans, tmp_path
):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "a.jmx").write_text(fragment(jmx.sampler("a")))
    folder, run = plans(check=jmx.plan(jmx.group(include("../shared/a.jmx"))))
    copy = plan_copy.copy(folder / "check.jmx", run)
    assert copy == "plan/plans/check.jmx"
    assert copied(run) == ["plans/check.jmx", "shared/a.jmx"]
    assert read_plan(run / copy, {}).labels == ("a",)


def test_what_an_absolute_path_names_is_not_copied(plans, tmp_path):
    (tmp_path / "a.jmx").write_text(fragment(jmx.sampler("a")))
    folder, run = plans(check=jmx.plan(jmx.group(include(str(tmp_path / "a.jmx")))))
    assert plan_copy.copy(folder / "check.jmx", run) == "plan/check.jmx"
    assert copied(run) == ["check.jmx"]


@pytest.mark.parametrize("path", ["fragments/none.jmx", "", "${where}", "fragments"])
def test_an_include_that_cannot_be_found_is_left_for_reading_to_refuse(plans, path):
    folder, run = plans(check=jmx.plan(jmx.group(include(path))), fragments__a=fragment())
    plan_copy.copy(folder / "check.jmx", run)
    assert copied(run) == ["check.jmx"]


def test_a_file_that_is_not_xml_is_copied_and_left_for_reading_to_refuse(plans):
    folder, run = plans(check="<jmeterTestPlan>")
    copy = plan_copy.copy(folder / "check.jmx", run)
    with pytest.raises(PlanError, match="not well-formed"):
        read_plan(run / copy, {})


@pytest.mark.parametrize("path", ["fragments/a.jmx", "check.jmx"])
def test_a_circle_of_fragments_ends(plans, path):
    folder, run = plans(
        check=jmx.plan(jmx.group(include("fragments/a.jmx"))),
        fragments__a=fragment(jmx.sampler("a"), include(path)),
    )
    plan_copy.copy(folder / "check.jmx", run)
    assert copied(run) == ["check.jmx", "fragments/a.jmx"]


def test_two_plans_of_one_name_that_differ_are_refused(plans):
    folder, run = plans(check=jmx.plan(jmx.group(jmx.sampler("a"))))
    plan_copy.copy(folder / "check.jmx", run)
    plan_copy.copy(folder / "check.jmx", run)  # the same plan in two modes is what a run is
    (folder / "check.jmx").write_text(jmx.plan(jmx.group(jmx.sampler("b"))))
    with pytest.raises(PlanError, match=r"check\.jmx"):
        plan_copy.copy(folder / "check.jmx", run)
