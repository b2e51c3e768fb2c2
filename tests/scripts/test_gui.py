"""scripts/gui opens a plan in JMeter's window, as `tollgate gui`, or says in a line why not."""

from pathlib import Path

import pytest

import support
from support.screens import virtual_screen
from tollgate.base.paths import SUITE
from tollgate.install.tools import JMETER

GUI = SUITE / "scripts" / "gui"
#: Once a plan is open in the window: changes a preference, writes down the title, ends JMeter.
TELL = """
import org.apache.jmeter.gui.GuiPackage
Thread.startDaemon('tell') {
    while (!(GuiPackage.instance?.mainFrame?.showing && GuiPackage.instance.testPlanFile)) sleep(50)
    java.util.prefs.Preferences.userRoot().node('org/tollgate/test').with { put('a', 'b'); flush() }
    new File(System.getProperty('tollgate.told')).text = GuiPackage.instance.mainFrame.title
    Runtime.runtime.halt(0)
}
"""


def refused(*words, **environment):
    done = support.run(*words, env=support.environment(**({"DISPLAY": ":7"} | environment)))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    return done.stderr


def test_a_plan_that_is_not_there_is_refused_with_those_that_are():
    said = refused(GUI, "plans/chekc.jmx")
    assert f"tollgate: there is no plan {Path.cwd() / 'plans/chekc.jmx'}" in said
    assert "check.jmx" in said
    assert "fragments" not in said


def test_what_can_not_be_opened_is_refused():
    assert "unrecognized arguments: -Jport=3002" in refused(GUI, "-Jport=3002")
    assert "no screen (DISPLAY is not set)" in refused(GUI, DISPLAY="")
    # `run gui` is the same.
    assert "tollgate: there is no plan" in refused(SUITE / "scripts" / "run", "gui", "nothing.jmx")


@pytest.mark.needs("a screen")
def test_it_opens_the_plan_and_leaves_the_users_preferences_alone(tmp_path):
    home, title = tmp_path / "home", tmp_path / "title"
    home.mkdir()
    (tmp_path / "tell.groovy").write_text(TELL)
    start = f'new groovy.lang.GroovyShell().evaluate(new File("{tmp_path / "tell.groovy"}"));'
    (tmp_path / "start.bsh").write_text(start)
    given = (f"-Jbeanshell.init.file={tmp_path / 'start.bsh'}", f"-Dtollgate.told={title}")
    with virtual_screen() as screen:
        env = {"DISPLAY": screen, "HOME": str(home), "JVM_ARGS": f"-Duser.home={home}"}
        env = support.environment(**env)
        done = support.run(GUI, "plans/check.jmx", *given, cwd=SUITE, env=env)
    assert done.returncode == 0, done.stderr
    plan = SUITE / "plans" / "check.jmx"
    launcher = JMETER / "launcher" / "PluginsManagerCMD.sh"
    kept = support.JMETER.with_name("PluginsManagerCMD.sh")
    assert kept.read_text() == launcher.read_text()
    assert title.read_text() == f"check.jmx ({plan}) - Apache JMeter (5.6.3)"
    assert [it.name for it in home.rglob("*") if "prefs" in it.name] == []
    kept = SUITE / ".tollgate" / "gui" / ".java" / ".userPrefs" / "org" / "tollgate" / "test"
    assert (kept / "prefs.xml").is_file()
