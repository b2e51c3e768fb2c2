import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import jmx_text as jmx
from tollgate.plan import data_files

NAMES = st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8})?\.csv", fullmatch=True)
#: How a plan may name a file: with the properties of the run and the variables of the plan.
WAYS = {
    "as it is": lambda name: (name, {}, {}),
    "by a property's default": lambda name: (f"${{__P(items,{name})}}", {}, {}),
    "by a property": lambda name: ("${__P(items,other.csv)}", {"items": name}, {}),
    "by a variable": lambda name: ("${items}", {}, {"items": name}),
}


def feed(filename, **more):
    return jmx.element("CSVDataSet", "items", filename=filename, **more)


def missing(folder, *children, beside=(), properties=None, **variables):
    path = folder / "plan.jmx"
    path.write_text(jmx.plan(*beside, jmx.group(*children, jmx.sampler("home")), **variables))
    return [file for _, file in data_files.missing(path, properties or {})]


@given(NAMES, st.sampled_from([*WAYS]), st.booleans(), st.booleans(), st.booleans())
def test_a_file_is_missing_if_and_only_if_what_runs_names_it_and_it_is_not_there(
    name, way, is_there, is_included, is_enabled
):
    filename, properties, variables = WAYS[way](name)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "fragments").mkdir()
        if is_there:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text("a\n")
        element = feed(filename, enabled=is_enabled)
        if is_included:
            (folder / "fragments" / "f.jmx").write_text(jmx.document(jmx.fragment(element)))
            element = jmx.include("fragments/f.jmx")
        found = missing(folder, element, properties=properties, **variables)
        assert found == ([] if is_there or not is_enabled else [folder / name])


def test_a_name_that_only_the_run_knows_is_not_missing(tmp_path):
    names = jmx.element("CSVDataSet", "names", filename="names.csv", variableNames="items")
    (tmp_path / "names.csv").write_text("a.csv\n")
    assert missing(tmp_path, names, feed("${items}"), items="b.csv") == []
    assert missing(tmp_path, feed("${__time(YMD)}.csv")) == []
    assert missing(tmp_path, feed("")) == []


def test_a_file_that_a_setup_thread_group_may_write_first_is_not_missing(tmp_path):
    setup = jmx.group(jmx.sampler("write"), kind="SetupThreadGroup", name="setup")
    assert missing(tmp_path, feed("made.csv"), beside=[setup]) == []


#: A row that JMeter takes for something else than is meant, and what the line says of it.
BROKEN = {
    "an empty row": ("ann,1\n\nbob,2\n", {}, "line 3 of "),
    "an empty row at the end of a file that begins anew": ("ann,1\n\n", {}, "is empty"),
    "a short row": ("ann,1\nbob\n", {}, "${key} stays as it was"),
    "another delimiter": ("ann;1\n", {"variableNames": "user,key"}, "1 of 2 columns"),
    "a quoted delimiter": ('"Doe, Jane",1\n', {}, "Allow quoted data?"),
    "a value that is cut off": ('{"a":1,"b":2},1\n', {}, "3 fields for 2 columns"),
    "names": ("", {"variableNames": "user,key"}, "'Ignore first line'"),
}
WHOLE = {
    "a value that is called as its column": ("ann,1\nuser,key\n", {}),
    "each has all": ("ann,1\nbob,\n", {}),
    "quotes": ('"Doe, Jane",1\n"a\nb",2\n', {"quotedData": "true"}),
    "names": ("ann,1\n", {"variableNames": "user,key", "ignoreFirstLine": "true"}),
    "more than the plan names": (
        "ann,1,x\n",
        {"variableNames": "user,key", "ignoreFirstLine": "true"},
    ),
    "a delimiter at the end": ("ann,1,\n", {}),
    "quotes that are data": ('"ann",1\n', {}),
    "fewer than it names": ("ann,1\n", {"variableNames": "user,key,c", "ignoreFirstLine": "true"}),
    "tabs": ("ann\t1\n", {"delimiter": "\\t", "variableNames": "user,key"}),
    "an empty row at the end of a file that ends": ("ann,1\n\n\n", {"recycle": "false"}),
}
ROWS = BROKEN | {name: (*row, "") for name, row in WHOLE.items()}


@pytest.mark.parametrize("what", ROWS)
def test_a_row_that_jmeter_would_fill_with_what_was_before_is_refused(tmp_path, what):
    text, props, line = ROWS[what]
    header = "" if "\t" in text or ";" in text else "user,key\n"
    (tmp_path / "users.csv").write_text(header + text)
    users = feed("users.csv", **{"recycle": "true", **props})
    tree = jmx.tree(tmp_path, users, jmx.group(jmx.get("a", "/${user}/${key}")))
    lines = [*data_files.broken_rows(*tree)]
    assert len(lines) == (1 if line else 0)
    assert line in "".join(lines)


def test_a_file_that_is_quoted_throughout_is_refused_unless_the_plan_says_so(tmp_path):
    (tmp_path / "users.csv").write_text('"user","key"\n"ann","1"\n')
    for quoted, many in (("false", 1), ("true", 0)):
        users = feed("users.csv", recycle="true", quotedData=quoted)
        tree = jmx.tree(tmp_path, users, jmx.group(jmx.get("a", "/${user}")))
        assert len([*data_files.broken_rows(*tree)]) == many


def test_rows_of_a_file_that_nothing_reads_or_that_the_run_writes_are_not_looked_at(tmp_path):
    (tmp_path / "users.csv").write_text("user,key\nann\n")
    users, reader = feed("users.csv", recycle="true"), jmx.group(jmx.get("a", "/${key}"))
    write = jmx.posted("${__StringToFile(users.csv,ann)}", "a")
    setup = jmx.group(write, kind="SetupThreadGroup", name="setup")
    for elements, many in (([users], 1), ([jmx.fragment(users)], 0), ([users, setup], 0)):
        tree = jmx.tree(tmp_path, *elements, reader)
        assert len([*data_files.broken_rows(*tree)]) == many
