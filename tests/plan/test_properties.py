"""Properties of JMeter's that say what samples are."""

import re

import pytest
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
    assert ("x.properties: " in line) == any(
        properties[name] != FIXED.get(name) for name in ours & properties.keys()
    )


@pytest.mark.parametrize("name", DO_ELSE)
def test_what_has_a_plan_do_something_else_is_refused_in_a_line(name):
    with pytest.raises(SettingError, match=rf"^x: {re.escape(name)}=2 has the plan") as refused:
        leave_out({name: "2"}, "x")
    assert "\n" not in str(refused.value)


def test_what_a_run_has_anyway_is_not_told():
    stated = FIXED | {"sampleresult.useNanoTime": True, "users": 3}
    assert leave_out(stated, "x") == ""
    assert stated == {"users": 3}
