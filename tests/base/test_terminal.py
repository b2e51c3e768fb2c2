import io
import re

from hypothesis import assume, example, given
from hypothesis import strategies as st

from tollgate.base.terminal import Terminal
from tollgate.base.text import one_line, printable

#: With control characters of all kinds, and what escape sequences are made of.
TEXTS = st.lists(
    st.text()
    | st.characters(categories=["C", "Z"])
    | st.sampled_from(["\x1b[", "\x1b]0;", "31m", "0m", "2J", "\x9b", "\x07", "\r", "\u202e"])
).map("".join)
COLOURS = r"\x1b\[(0|31|32|33|35|1;31|01;31)m"


#: What commands of CI systems are made of.
COMMANDS = st.lists(
    st.sampled_from(["::", ":", "##", "#", "[", "]", "error", "vso[", "teamcity[", "\n", " ", "\t"])
    | st.text(max_size=2)
).map("".join)


def commands(text):
    """The lines that GitHub, Azure or TeamCity would carry out."""
    return [
        line
        for line in text.split("\n")
        if line.lstrip().startswith("::") or re.search(r"##\w*\[", line)
    ]


class Screen(io.StringIO):
    def isatty(self):
        return True


def hidden(text):
    return [it for it in text if not (it.isprintable() or it == "\n")]


def written(stream, text):
    terminal = Terminal(stream)
    assert terminal.write(text) == len(text)
    return terminal.getvalue()


@given(TEXTS)
def test_a_file_gets_printable_text_alone(text):
    assert hidden(written(io.StringIO(), text)) == []


@given(TEXTS)
def test_a_terminal_gets_printable_text_and_colours_alone(text):
    assert hidden(re.sub(COLOURS, "", written(Screen(), text))) == []


@given(st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" \n")))
def test_printable_text_is_written_as_it_is(text):
    assume(not commands(text))
    assert written(io.StringIO(), text) == text == printable(text)


@given(COMMANDS)
@example("  ::add-mask::PASS\n")
@example("FAIL: 500 ##[error]x ##vso[task.setvariable]")
def test_no_text_is_a_command_to_a_ci_system(text):
    for stream in (io.StringIO(), Screen()):
        plain = re.sub(COLOURS, "", written(stream, text))
        assert commands(plain) == []
        assert re.sub(r"\s", "", plain) == re.sub(r"\s", "", printable(text))


@given(TEXTS)
def test_a_line_is_printable_and_has_no_break(text):
    assert one_line(text).isprintable()


def test_the_colour_of_a_verdict_stays_on_a_terminal():
    painted = "\033[31mFAIL\033[0m 100 ms\n"
    assert written(Screen(), painted) == painted
    assert "\033" not in written(io.StringIO(), painted)
