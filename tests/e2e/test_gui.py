"""Every plan and fragment, opened, clicked through and saved in JMeter's own window."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

import support
from support import plan_files
from support.screens import virtual_screen
from tollgate.base.urls import Url
from tollgate.cli.new_target.files import NewTarget, new_files

pytestmark = [pytest.mark.needs("a screen"), pytest.mark.long]
every_file = pytest.mark.parametrize("path", plan_files.ALL_FILES, ids=plan_files.id_of)

#: What `tollgate new target` would make: the text of each fragment, by its path.
GENERATED = {
    path: text
    for target in (NewTarget("shop", Url("http", "127.0.0.1", 8080), as_jmx=True),)
    for path, text in new_files(target).items()
    if path.endswith(".jmx")
}
#: Where the pictures stay for a person to look at.
PICTURES = support.ROOT / "reports" / "screenshots"
# JMeter runs a BeanShell file at its start; this one hands over to Groovy.
START = 'new groovy.lang.GroovyShell().evaluate(new File(System.getProperty("tollgate.walk")));'


class Window:
    """JMeter's window after it has had every plan open, in a copy of the project's folders."""

    def __init__(self, folder, screen):
        self.folder, ignored = folder, shutil.ignore_patterns("modified_*")
        for name in ("plans", "data"):
            shutil.copytree(support.ROOT / name, folder / name, ignore=ignored)
        for path, text in GENERATED.items():
            (folder / path).write_text(text)
        (folder / "start.bsh").write_text(START)
        # The Plugins Manager writes into the home of the JMeter whose window it is in.
        home = shutil.copytree(support.JMETER.parents[1], folder / "jmeter")
        self.log = folder / "jmeter.log"
        self.done = support.run(
            *(home / "bin" / "jmeter", "-j", self.log),
            f"-Jbeanshell.init.file={folder / 'start.bsh'}",
            *("-Jjmeter.gui.action.save.backup_on_save=false", *self._properties()),
            cwd=folder,
            env=support.environment(DISPLAY=screen),
        )
        self.saw = json.loads((folder / "gui.json").read_text())

    def copy_of(self, path):
        return self.folder / path.relative_to(support.ROOT)

    def of(self, path):
        return self.saw[str(self.copy_of(path))]

    def _properties(self):
        plans = [*map(self.copy_of, plan_files.ALL_FILES), *(self.folder / it for it in GENERATED)]
        walk = Path(__file__).with_name("open_and_save.groovy")
        properties = {"walk": walk, "seen": self.folder, "plans": os.pathsep.join(map(str, plans))}
        return [f"-Dtollgate.{key}={value}" for key, value in properties.items()]


@pytest.fixture(scope="module")
def screen():
    """The name of a virtual screen."""
    with virtual_screen() as name:
        yield name


@pytest.fixture(scope="module")
def window(screen, tmp_path_factory):
    seen = Window(tmp_path_factory.mktemp("gui"), screen)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for picture in seen.folder.glob("*.png"):
        shutil.copy(picture, PICTURES)
    return seen


@every_file
def test_a_plan_opens_in_the_window_without_a_dialog(window, path):
    seen = window.of(path)
    assert seen["dialogs"] == []
    assert seen["title"] == f"{path.name} ({window.copy_of(path)}) - Apache JMeter (5.6.3)"
    assert seen["windows"] == [seen["title"]]
    named = [element.name for element in plan_files.read(path).walk()]
    assert seen["elements"] == named[1:], "the tree of the window is not the plan's"


def test_nothing_goes_wrong_behind_the_window(window):
    assert re.findall(r"^\S+ \S+ (?:ERROR|FATAL) .*", window.log.read_text(), re.MULTILINE) == []
    assert "Exception" not in window.done.stderr
    assert window.done.returncode == 0


@every_file
def test_a_plan_that_was_opened_and_saved_is_what_it_was(window, path):
    saved = Path(f"{window.copy_of(path)}.untouched")
    assert saved.read_text() == path.read_text(), f"keep what JMeter saved: cp {saved} {path}"


@every_file
def test_clicking_through_a_plan_changes_nothing_but_the_way_it_is_written(window, path):
    assert plan_files.meaning(window.copy_of(path)) == plan_files.meaning(path)
    picture = window.folder / f"{path.name}.png"
    assert picture.stat().st_size > 10_000, "one colour all over compresses to next to nothing"


@pytest.mark.parametrize("path", GENERATED)
def test_a_fragment_of_tollgates_opens_without_a_dialog_and_keeps_its_elements(window, path):
    file = window.folder / path
    assert window.saw[str(file)]["dialogs"] == []
    made, saved = (
        [(it.kind, it.name) for it in plan_files.read(each).walk()][1:]  # without the file
        for each in (file, Path(f"{file}.untouched"))
    )
    assert saved == made
