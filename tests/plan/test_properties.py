"""Properties of JMeter's that say what samples are."""

import re
from pathlib import Path

import bzt
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tollgate.base.settings import SettingError
from tollgate.install.tools import jmeter_home
from tollgate.plan.properties import ARGUMENTS, leave_out

FIXED = dict(it.removeprefix("-J").split("=", 1) for it in ARGUMENTS)
DO_ELSE = ("timer.factor", "csvdataset.eofstring", "includecontroller.prefix")
#: All that JMeter's own file names.
OWN = sorted(
    set(
        re.findall(
            r"^#?([A-Za-z_][\w.]*)=",
            (jmeter_home() / "bin" / "jmeter.properties").read_text("latin-1"),
            re.MULTILINE,
        )
    )
)
OF_SAMPLES = [it for it in OWN if re.match(r"jmeter\.save\.|summariser\.|sampleresult\.", it)]
LEFT_ALONE = {"jmeter.save.saveservice.autoflush", "sampleresult.default.encoding"}


@given(st.dictionaries(st.sampled_from(OWN), st.text(max_size=4)))
def test_what_jmeters_own_file_has_of_samples_is_left_out_and_all_else_stays(properties):
    left = {name: it for name, it in properties.items() if name not in DO_ELSE}
    line = leave_out(left, "x.properties")
    ours = {*FIXED, *OF_SAMPLES} - LEFT_ALONE
    assert left == {n: it for n, it in properties.items() if n not in ours and n not in DO_ELSE}
    told = {name: properties[name] for name in (ours - {*DO_ELSE}) & properties.keys()}
    same = {it for it, value in told.items() if value.strip().lower() == FIXED.get(it, "").lower()}
    # Of a delimiter, and of what no run sets, each character counts.
    assert {it for it in told if f"{it}=" in line} >= told.keys() - same
    assert bool(line) >= bool(told.keys() - same)


@pytest.mark.parametrize("name", DO_ELSE)
def test_what_has_a_plan_do_something_else_is_refused_in_a_line(name):
    with pytest.raises(SettingError, match=rf"^x: {re.escape(name)}=2 has the plan") as refused:
        leave_out({name: "2"}, "x")
    assert "\n" not in str(refused.value)


def test_what_a_run_has_anyway_is_not_told():
    stated = FIXED | {"sampleresult.useNanoTime": True, "users": 3}
    assert leave_out(stated, "x") == ""
    assert stated == {"users": 3}


def test_what_taurus_sets_in_each_run_is_no_remark():
    base = Path(bzt.__file__).with_name("resources") / "10-base-config.yml"
    modules = [it.get("modules", {}) for it in yaml.safe_load_all(base.read_text())]
    usual = next(
        it["jmeter"]["properties"] for it in modules if it.get("jmeter", {}).get("properties")
    )
    assert leave_out(usual, "taurus.yml") == ""
