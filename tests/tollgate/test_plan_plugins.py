"""Which classes of a plan the installed JMeter does not have, and what would bring them."""

import shlex
import zipfile

import pytest

import jmx_text as jmx
import plan_files
import support
from tollgate import plan_plugins

HOME = support.JMETER.parent.parent
DUMMY = "kg.apc.jmeter.samplers.DummySampler"


def missing(folder, *children, home=HOME):
    plan = folder / "plan.jmx"
    plan.write_text(jmx.plan(*children))
    return plan_plugins.missing([plan], home)


def test_our_own_plans_and_the_installed_plugins_need_nothing(tmp_path):
    assert plan_plugins.missing(plan_files.ALL_FILES, HOME) == []
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
    assert plan_plugins.missing([template], HOME) == []


def test_of_an_objects_value_the_class_alone_counts(tmp_path):
    values = ("org.example.Settings", "string", "java.util.Date")
    extra = "".join(
        f'<objProp><name>s</name><value class="{each}"><time>true</time></value></objProp>'
        for each in values
    )
    assert missing(tmp_path, jmx.element("Arguments", extra=extra)) == ["org.example.Settings"]


def test_what_is_missing_is_named_once_also_where_it_is_switched_off(tmp_path):
    nested = '<elementProp name="x" elementType="org.example.Profile"/>'
    found = missing(
        tmp_path,
        jmx.group(jmx.element(DUMMY, enabled=False), jmx.element(DUMMY)),
        jmx.element("Arguments", extra=nested),
        jmx.element("NoSuchElement"),
    )
    assert found == [DUMMY, "org.example.Profile", "NoSuchElement"]


def test_a_jar_beside_the_plan_or_in_the_home_will_do(tmp_path):
    with zipfile.ZipFile(tmp_path / "mine.jar", "w") as jar:
        jar.writestr("org/example/Mine.class", b"")
    (tmp_path / "broken.jar").write_text("no zip")
    mine, other = jmx.element("org.example.Mine"), jmx.element("org.example.Other")
    assert missing(tmp_path, mine, other) == ["org.example.Other"]


@pytest.mark.parametrize(
    ("name", "plugin"),
    [
        (DUMMY, "jpgc-dummy"),
        ("kg.apc.jmeter.threads.SteppingThreadGroup", "jpgc-casutg"),
        ("com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup", "jpgc-casutg"),
        ("com.blazemeter.jmeter.control.VirtualUserController", "jpgc-casutg"),
        ("com.blazemeter.jmeter.control.WeightedSwitchController", "jpgc-wsc"),
        ("kg.apc.jmeter.timers.VariableThroughputTimer", "jpgc-tst"),
        ("kg.apc.jmeter.vizualizers.CorrectedResultCollector", "jpgc-graphs-basic"),
        ("kg.apc.jmeter.vizualizers.CompositeResultCollector", "jpgc-graphs-composite"),
        ("com.blazemeter.jmeter.http2.sampler.HTTP2Request", "bzm-http2"),
        ("eu.luminis.jmeter.wssampler.OpenWebSocketSampler", "websocket-samplers"),
        ("org.example.Mine", None),
    ],
)
def test_the_plugin_of_a_class_is_known_by_the_beginning_of_its_name(name, plugin):
    assert plan_plugins.plugin_of(name) == plugin


@pytest.fixture
def manager():
    """Lets a home have the Plugins Manager's command."""

    def give(home):
        command = home / "bin" / "PluginsManagerCMD.sh"
        command.parent.mkdir(parents=True)
        command.touch(mode=0o755)
        return home

    return give


def test_the_advice_is_one_line_with_the_command_and_what_no_command_brings(tmp_path, manager):
    manager(tmp_path)
    told = plan_plugins.advice([DUMMY, "kg.apc.jmeter.samplers.UDPSampler", "a.B", "c.D"], tmp_path)
    assert told == (
        f"it needs {DUMMY}, kg.apc.jmeter.samplers.UDPSampler, a.B and 1 more, which this JMeter "
        f"does not have: install what has it by `{tmp_path}/bin/PluginsManagerCMD.sh install "
        f"jpgc-dummy,jpgc-udp`; put the jar that has a.B into {tmp_path}/lib/ext"
    )


def test_the_command_of_the_advice_can_be_pasted_where_the_home_has_a_space(tmp_path, manager):
    home = manager(tmp_path / "my tools")
    assert f"`'{home}/bin/PluginsManagerCMD.sh' install jpgc-dummy`" in plan_plugins.advice(
        [DUMMY], home
    )


def test_where_there_is_no_plugins_manager_the_advice_begins_with_it(tmp_path):
    home = tmp_path / "my tools"
    told = plan_plugins.advice([DUMMY], home)
    assert "\n" not in told
    made, install = told.split("`")[1::2]
    assert made == (
        f"java -cp '{home}/lib/ext/'jmeter-plugins-manager-*.jar "
        "org.jmeterplugins.repository.PluginManagerCMDInstaller"
    )
    assert install == f"'{home}/bin/PluginsManagerCMD.sh' install jpgc-dummy"


def test_the_command_of_the_advice_is_installed():
    command = shlex.quote(f"{HOME}/bin/PluginsManagerCMD.sh")
    assert f"install what has it by `{command} install" in plan_plugins.advice([DUMMY], HOME)
