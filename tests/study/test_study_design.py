from dataclasses import replace

import pytest

import support
from support import plan_files, study_blocks
from support.simulated import expected_schedules
from support.study_blocks import CELL, HEADER, blocks, design, errors_of
from tollgate.plan.read import read_plan
from tollgate.study.design import (
    EXPERIMENTS,
    DesignError,
    only,
    read_design,
    seconds_of,
    shorten,
)
from tollgate.study.model import CROSSCHECK
from tollgate.study.stats import MIN_BLOCKS
from tollgate.targets import pm2

FORK = "sum,fork,fork,5,0,8,1,0.25,0,/sum/9,45"
CHECK = FORK.replace("sum,fork", "crosscheck,jmeter")
CLUSTER = FORK.replace("fork,fork", "cluster,cluster")


@pytest.fixture
def file(tmp_path):
    """Writes a design and returns its path."""

    def write(*rows, header=HEADER):
        path = tmp_path / "study.csv"
        path.write_text("".join(f"{row}\n" for row in (header, *rows)))
        return path

    return write


# The design that comes with the suite.


def test_the_design_has_the_published_experiments_within_a_quarter_of_an_hour():
    cells = design()
    assert tuple(dict.fromkeys(cell.experiment for cell in cells)) == EXPERIMENTS
    assert all(cell.rounds >= MIN_BLOCKS for cell in cells)
    assert seconds_of(blocks(cells, 21)) < 15 * 60
    assert seconds_of(blocks(shorten(cells), 21)) < 60


def test_the_apps_of_the_design_are_of_the_ecosystem_and_its_crosscheck_asks_one_of_them():
    assert {cell.app for cell in design()} <= pm2.declared_apps().keys()
    cells = only(design(), [CROSSCHECK])
    assert {cell.app for cell in cells} == {"fork"}
    assert "jmeter" in {cell.arm for cell in cells}


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_users_count_at_which_arms_are_compared_has_all_of_them(experiment):
    cells = only(design(), [experiment])
    most = max(cell.users for cell in cells)
    assert {cell.arm for cell in cells if cell.users == most} == {cell.arm for cell in cells}


def test_blocks_that_the_plan_has_by_itself_are_those_that_the_generator_writes(
    tmp_path, monkeypatch
):
    for app in pm2.declared_apps():
        monkeypatch.delenv(f"PORT_{app.upper().replace('-', '_')}", raising=False)
    ports = {name: app.port for name, app in pm2.declared_apps().items()}
    written = study_blocks.write_smoke(tmp_path / "study-blocks.csv", ports)
    kept = study_blocks.COMMITTED
    assert written.read_text() == kept.read_text(), f"keep it: cp {written} {kept}"


def test_the_plan_has_a_sampler_for_each_experiment_of_the_same_name():
    plan = plan_files.read(support.PLANS / "study.jmx")
    (switch,) = [e for e in plan.walk() if e.kind == "SwitchController"]
    assert tuple(child.name for child in switch.children) == EXPERIMENTS


def test_the_plan_is_read_as_closed_loops_whose_labels_are_all_known_before_the_run():
    plan = read_plan(support.PLANS / "study.jmx", {"users": "7"})
    assert plan.labels == ("connect", *EXPERIMENTS, "another generator")
    assert plan.label_patterns == ()
    assert [(group.threads, group.unresolved) for group in plan.groups] == [(7, {})]
    assert {type(found) for found in expected_schedules(plan).values()} == {str}


def test_a_short_design_has_the_ends_of_each_arm_once_and_no_warm_up():
    made = blocks(shorten(design()), 21)
    assert {block.round for block in made} == {1}
    users = {}
    for cell in design():
        users.setdefault((cell.experiment, cell.arm), []).append(cell.users)
    ends = {(*arm, end) for arm, many in users.items() for end in (min(many), max(many))}
    assert {block.cell.key for block in made} == ends
    assert len(made) == len(ends)
    assert {b.cell.each for b in made} == {0, 2}
    assert all(b.cell.lead_s < b.cell.seconds <= 2 for b in made if not b.cell.each)


def test_a_long_block_is_cut_for_a_smoke_and_so_is_its_lead():
    (short,) = shorten([replace(CELL, seconds=60, lead_s=10)])
    assert (short.seconds, short.lead_s, short.rounds) == (2, 0.5, 1)


# What is wrong with a design.


def test_columns_may_come_in_any_order(file):
    header, *rows = (",".join(reversed(it.split(","))) for it in (HEADER, FORK, CLUSTER))
    assert read_design(file(*rows, header=header)) == read_design(file(FORK, CLUSTER))


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("users", "ten", "Input should be a valid integer"),
        ("users", "0", "Input should be greater than or equal to 1"),
        ("users", "2.5", "Input should be a valid integer"),
        ("published", "-1", "Input should be greater than or equal to 0"),
        ("rounds", "", "Input should be a valid integer"),
        ("seconds", "0.5", "Input should be a valid integer"),
        ("lead_s", "nan", "Input should be a finite number"),
        ("lead_s", "-1", "Input should be greater than or equal to 0"),
        ("each", "-1", "Input should be greater than or equal to 0"),
        ("experiment", "sums", "Input should be 'calculate', 'sum', "),
        ("arm", "", "write something on a single line"),
        ("app", "", "write something on a single line"),
        ("path", "sum/9", "begin it with a slash, and write a blank in it as %20"),
        ("path", "//elsewhere/9", "begin it with a slash"),
        ("path", "http://elsewhere/9", "begin it with a slash"),
        ("path", "/a b", "begin it with a slash, and write a blank in it as %20"),
        ("answer", "(", "it is no regular expression (missing ), unterminated subpattern at posi"),
        ("answer", "", "write something on a single line"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_its_row_and_column(file, column, value, problem):
    cells = FORK.split(",")
    cells[HEADER.split(",").index(column)] = value
    (error, *_others) = errors_of(file(CLUSTER, ",".join(cells)))
    assert error.startswith(f":3: {column} = {value!r} can't be used: {problem}")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            (FORK, CLUSTER, FORK),
            ":4: repeats the cell of {path}:2 (sum, fork, 5 users): take one of them out",
        ),
        (
            (FORK, CLUSTER.replace(",8,", ",9,")),
            ":3: rounds = 9 of sum is 8 at {path}:2: all cells of an experiment have as many, so "
            "write the same in both",
        ),
        (
            (FORK, CLUSTER.replace("/sum/9", "/sum/8")),
            ":3: path = '/sum/8' of sum is '/sum/9' at {path}:2: all cells of an experiment ask "
            "for the same, so write the same in both",
        ),
        (
            (FORK, CLUSTER, FORK.replace("fork,fork,5", "fork,cluster,6")),
            ":4: app = 'cluster' of sum, fork is 'fork' at {path}:2: an arm is one app, so write "
            "the same in both",
        ),
        (
            (FORK,),
            ": sum has only the arm 'fork': add rows of another one",
        ),
        (
            (FORK.replace("0.25", "1"), CLUSTER),
            ":2: lead_s = 1 leaves nothing of a block of 1 s to measure: write less",
        ),
        (
            (CHECK, CHECK.replace("jmeter", "ab")),
            ":3: arm = 'ab' is no load generator: write jmeter or autocannon",
        ),
        (
            (FORK + ",5", CLUSTER),
            ":2: has 12 fields, the header has 11: write 7.5, not 7,5, and a text that holds "
            "commas between quotes",
        ),
        ((), f": has no rows: write a header `{HEADER}` and rows below it"),
    ],
)
def test_rows_that_contradict_each_other_are_refused(file, rows, expected):
    path = file(*rows)
    assert errors_of(path) == [expected.format(path=path)]


@pytest.mark.parametrize(
    "header",
    [
        *(f"{HEADER},note", f"{HEADER},users", HEADER.replace("lead_s", "leads")),
        HEADER.removesuffix(",answer"),
    ],
)
def test_a_header_with_other_columns_is_refused(file, header):
    expected = f":1: the columns must be {HEADER.replace(',', ', ')}, each once"
    assert errors_of(file(FORK, CLUSTER, header=header)) == [expected]


def test_all_that_is_wrong_is_told_at_once_and_no_more_than_can_be_read(file):
    errors = errors_of(file(*(FORK.replace(",5,", f",{'x' * n},") for n in range(1, 31))))
    assert len(errors) == DesignError.SHOWN + 1
    assert errors[-1] == "and 20 more such errors: correct these first"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (None, ": can't be read: No such file or directory: name a file that can be"),
        (b"experiment\xff", ":1: is not UTF-8: save the file as 'CSV UTF-8'"),
        (
            f'{HEADER}\n"sum\n'.encode(),
            ":2: is not CSV (unexpected end of data): correct this line",
        ),
    ],
    ids=["none", "bad", "quoted"],
)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path, content, error):
    path = tmp_path / "study.csv"
    if content:
        path.write_bytes(content)
    assert errors_of(path) == [error]
