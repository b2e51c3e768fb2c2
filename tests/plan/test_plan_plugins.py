import shlex
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

import support
from support import jmx_text as jmx
from support import plan_files
from tollgate.plan import plugins as plan_plugins
from tollgate.plan.nodes import class_name

HOME = support.JMETER.parent.parent
DUMMY = "kg.apc.jmeter.samplers.DummySampler"


def missing(folder, *children, home=HOME):
    plan = folder / "plan.jmx"
    plan.write_text(jmx.plan(*children))
    return list(plan_plugins.missing([plan], home))


def test_our_own_plans_and_the_installed_plugins_need_nothing(tmp_path):
    assert plan_plugins.missing(plan_files.ALL_FILES, HOME) == {}
    installed = (
        "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup",
        "kg.apc.jmeter.threads.UltimateThreadGroup",
        "kg.apc.jmeter.timers.VariableThroughputTimer",
    )
    assert missing(tmp_path, *(jmx.element(name) for name in installed)) == []


@pytest.mark.parametrize(
    "template", sorted((HOME / "bin" / "templates").glob("*.jmx")), ids=lambda path: path.name
)
def test_plans_as_jmeter_itself_saves_them_lack_nothing(template):
    assert plan_plugins.missing([template], HOME) == {}


def test_of_an_objects_value_the_class_alone_counts(tmp_path):
    value = '<objProp><name>s</name><value class="{}"><time>true</time></value></objProp>'
    extra = "".join(map(value.format, ("org.example.Settings", "string", "java.util.Date")))
    assert missing(tmp_path, jmx.element("Arguments", extra=extra)) == ["org.example.Settings"]


def test_what_is_missing_is_named_once_also_where_it_is_switched_off(tmp_path):
    nested = '<elementProp name="x" elementType="org.example.Profile"/>'
    group = jmx.group(jmx.element(DUMMY, enabled=False), jmx.element(DUMMY))
    others = jmx.element("Arguments", extra=nested), jmx.element("NoSuchElement")
    assert missing(tmp_path, group, *others) == [DUMMY, "org.example.Profile", "NoSuchElement"]


def test_a_class_in_a_class_and_one_with_underlines_are_found_as_xstream_writes_them(tmp_path):
    inner = "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup_-Inner"
    with zipfile.ZipFile(tmp_path / "mine.jar", "w") as jar:
        for name in ("My_Sampler", "Outer$Inner", "Größe"):
            jar.writestr(f"org/example/{name}.class", b"")
    known = [f"org.example.{it}" for it in ("My__Sampler", "Outer_-Inner", "Gr_.00f6_.00dfe")]
    assert missing(tmp_path, *map(jmx.element, [*known, inner])) == [inner.replace("_-", "$")]


@given(st.text("aZ$_", min_size=1))
def test_what_xstream_writes_of_a_name_is_read_as_that(name):
    written = "".join({"$": "_-", "_": "__"}.get(letter, letter) for letter in name)
    assert class_name(written) == name


def test_a_sampler_in_a_class_of_a_plugin_is_one(tmp_path):
    group = jmx.group(jmx.element("org.example.My__Tools_-EchoSampler", "echo"))
    assert jmx.read(tmp_path, group).labels == ("echo",)
    kind = "org.example.Groups_-MyThreadGroup"
    assert [it.kind for it in jmx.read(tmp_path, jmx.element(kind)).groups] == [
        "Groups$MyThreadGroup"
    ]


def test_a_jar_beside_the_plan_or_in_the_home_will_do(tmp_path):
    with zipfile.ZipFile(tmp_path / "mine.jar", "w") as jar:
        jar.writestr("org/example/Mine.class", b"")
    (tmp_path / "broken.jar").write_text("no zip")
    mine, other = jmx.element("org.example.Mine"), jmx.element("org.example.Other")
    assert missing(tmp_path, mine, other) == ["org.example.Other"]


def test_the_file_that_names_a_class_first_is_told_with_it(tmp_path):
    plan, included = tmp_path / "plan.jmx", tmp_path / "included.jmx"
    plan.write_text(jmx.plan(jmx.element(DUMMY)))
    included.write_text(jmx.plan(jmx.element(DUMMY), jmx.element("org.example.Mine")))
    found = plan_plugins.missing([plan, included], HOME)
    assert found == {DUMMY: plan, "org.example.Mine": included}


def test_the_advice_is_one_line_with_the_command_and_what_no_command_brings(tmp_path):
    files = {DUMMY: "b.jmx", "kg.apc.jmeter.samplers.UDPSampler": "a.jmx", "a.B": "b.jmx"}
    absent = {name: tmp_path / file for name, file in {**files, "c.D": "a.jmx"}.items()}
    assert plan_plugins.advice(absent, tmp_path) == (
        f"it needs {DUMMY}, kg.apc.jmeter.samplers.UDPSampler, a.B and 1 more, which this JMeter "
        f"does not have: install what has it by `{tmp_path}/bin/PluginsManagerCMD.sh "
        f"install-for-jmx {tmp_path}/b.jmx,{tmp_path}/a.jmx` (of the Plugins Manager); what is "
        f"of no plugin there, put as a jar into {tmp_path}/lib/ext"
    )


def test_the_command_of_the_advice_can_be_pasted_where_a_path_has_a_space(tmp_path):
    home = tmp_path / "my tools"
    plan = home / "plan.jmx"
    command = f"`'{home}/bin/PluginsManagerCMD.sh' install-for-jmx '{plan}'`"
    assert command in plan_plugins.advice({DUMMY: plan}, home)


def test_the_command_of_the_advice_is_installed_and_knows_the_word(tmp_path):
    plan = tmp_path / "plan.jmx"
    plan.write_text(jmx.plan())
    # The list in the folder where it is called, and nobody else's.
    (tmp_path / "plugins.json").write_text("[]")
    command = f"{shlex.quote(f'{HOME}/bin/PluginsManagerCMD.sh')} install-for-jmx {plan}"
    assert f"`{command}`" in plan_plugins.advice({DUMMY: plan}, HOME)
    asked = support.environment(JVM_ARGS="-Djpgc.repo.address=./plugins.json")
    done = support.run("sh", "-c", command, cwd=tmp_path, env=asked)
    assert done.returncode == 0, done.stderr
    assert "Finishing without changes" in done.stdout
