"""What Taurus's engine refuses before it calls a module."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
import yaml
from bzt import TaurusConfigError
from hypothesis import given
from hypothesis import strategies as st

from tollgate.base.paths import ROOT
from tollgate.record.redaction import Redaction
from tollgate.taurus.engine import BASE_CONFIG, Engine

SETTINGS = yaml.safe_load((ROOT / "taurus.yml").read_text())
KINDS = [*SETTINGS["cli-aliases"]]
OURS = [name for name, it in SETTINGS["modules"].items() if "class" in it]


def engine(kinds: list[str] | None = None, **config: object) -> Engine:
    made = Engine(logging.getLogger("test"), Redaction(), kinds or [])
    made.config.merge({"settings": {"check-updates": False}, **config})
    return made


def refused(call, *given: object) -> str:
    with pytest.raises(TaurusConfigError) as caught:
        call(*given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def misspelt(name: str, at: int) -> str:
    """The name with two neighbours in the place of one another, or with one letter twice."""
    at %= len(name) - 1
    swapped = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    return swapped if swapped != name else name[:at] + name[at] + name[at:]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("at", [1, 2])
def test_a_misspelt_kind_is_refused_with_the_nearest(kind: str, at: int) -> None:
    files = [str(BASE_CONFIG), str(ROOT / "taurus.yml")]
    wrong = misspelt(kind, at)
    told = refused(engine([wrong]).configure, files, False)
    assert told == f"-{wrong} is no kind of run (cli-aliases): did you mean {kind!r}?"


def test_a_kind_like_no_other_is_refused_with_ours_alone() -> None:
    files = [str(BASE_CONFIG), str(ROOT / "taurus.yml")]
    told = refused(engine(["xyz"]).configure, files, False)
    assert told.endswith(f": known are {', '.join(KINDS)}")


@given(
    st.sampled_from(["modules", "services", "reporting", "scenarios", "execution"]), st.integers(1)
)
def test_a_misspelt_section_is_refused_with_the_nearest(name: str, at: int) -> None:
    wrong = misspelt(name, at)
    told = refused(engine(**{wrong: {}}).prepare)
    assert f"the section {wrong!r}, which does not exist: did you mean {name!r}?" in told


@given(st.sampled_from(OURS), st.integers(1))
def test_settings_of_a_module_that_there_is_not_are_refused_with_the_nearest(
    name: str, at: int
) -> None:
    wrong = misspelt(name, at)
    modules = {wrong: {"mode": "fork"}, **{it: SETTINGS["modules"][it] for it in OURS}}
    told = refused(engine(modules=modules).prepare)
    assert f"the entry {wrong!r}, which does not exist: did you mean {name!r}?" in told


def test_a_module_by_its_former_name_is_refused_with_its_name() -> None:
    modules = {"looks": {"budget": "8m"}, **{it: SETTINGS["modules"][it] for it in OURS}}
    told = refused(engine(modules=modules).prepare)
    assert told == "modules.looks is called modules.stop-when-decided now"


@pytest.mark.parametrize(
    ("changes", "said"),
    {
        "a service": (
            {"services": [{"module": "looks"}]},
            "is called modules.stop-when-decided now",
        ),
        "a class": (
            {"modules": {"targets": {"class": "tollgate.taurus.Targets"}}},
            "such as tollgate.taurus.targets.Targets",
        ),
    }.values(),
    ids=["a service", "a class"],
)
def test_what_was_named_otherwise_before_is_refused_with_its_name(changes, said):
    assert said in refused(engine(**changes).prepare)


def test_sections_of_the_users_own_and_all_that_taurus_has_are_let_through(tmp_path: Path) -> None:
    made = engine(**{"x-limits": ["p95>1s"]})
    made.artifacts_dir = str(tmp_path)
    made.configure([str(BASE_CONFIG), str(ROOT / "taurus.yml")], read_config_files=False)
    made.config["services"] = made.config["reporting"] = made.config["execution"] = []
    told = refused(made.prepare)
    assert "does not exist" not in told
