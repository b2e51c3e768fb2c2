"""The plan of the study, run by JMeter alone: what happens in its blocks and between them."""

import json
import threading
from collections import Counter
from itertools import pairwise

import pytest

import support
from support.http_server import Handler, serving
from support.jmeter_run import Run, node_server
from tollgate.samples.growing import Growing
from tollgate.study import autocannon
from tollgate.study.design import read_blocks, rounds, warm_up, write_blocks
from tollgate.study.model import CROSSCHECK, Cell
from tollgate.study.position import last_block
from tollgate.study.samples import read_spans

#: Some more than any block has users: what they do in the meantime must harm nothing.
THREADS = 60
#: The clock of `timeStamp` and that of `elapsed` differ by so many milliseconds.
CLOCKS_MS = 2
#: What CSV files and regular expressions could stumble over.
ODD_PATH = "/odd?list=1,2&quoted=%22"
ODD_ANSWER = '{"said": "yes, \\"indeed\\"", "list": [1, 2]}'
ODD_PATTERN = r'"said": "yes, \\"indeed\\"", "list": \[1, 2\]'


class Odd(Handler):
    """Gives its odd answer as a server behind a balancer does, and counts connections."""

    def setup(self):
        super().setup()
        self.is_counted = False

    def respond(self):
        with self.server.lock:
            self.server.requests[self.path] += 1
            self.server.connections += not self.is_counted
        self.is_counted = True
        status = 418 if self.path == "/teapot" else 200
        body = '{"status":"ok"}' if self.path == "/healthz" else ODD_ANSWER
        self.answer(status, body, X_Server="pi-2", X_Worker="5")


def cell(experiment, arm, app, users, each, **other):
    known = {
        "sum": ("/sum/500000", r'"sum":125000250000\b'),
        "kittens": ("/evil-kittens-sploding-your-cpu/study", r'"value":2178309\b'),
        "search": (ODD_PATH, ODD_PATTERN),
        CROSSCHECK: ("/sum/1000", r'"sum":500500\b'),
    }
    path, answer = known[experiment]
    rest = {"published": 0, "rounds": 2, "seconds": 30 if each else 1, "lead_s": 0.25}
    rest |= {"path": path, "answer": answer}
    return Cell(experiment, arm, app, users, each=each, **rest | other)


DESIGN = (
    cell("sum", "fork", "fork", 1, 0),
    cell("sum", "cluster", "cluster", 20, 0),
    # Blocks of known lengths right after timed ones, in the same round.
    cell("sum", "fork", "fork", 7, 3),
    cell("sum", "cluster", "cluster", 2, 1),
    # One block after the other in a tenth of a second, with many threads that have nothing to do.
    cell("kittens", "fork", "fork", 1, 1, rounds=25),
    cell("kittens", "cluster", "cluster", 3, 1, rounds=25),
    cell("search", "odd", "odd", 4, 5),
    cell("search", "wrong answer", "odd", 2, 1, answer="somebody else"),
    cell("search", "wrong status", "odd", 2, 1, path="/teapot"),
    cell("search", "no server", "nobody", 2, 1),
    cell(CROSSCHECK, "jmeter", "fork", 5, 0),
    cell(CROSSCHECK, "autocannon", "fork", 5, 0, seconds=2),
    cell(CROSSCHECK, "broken", "fork", 4, 0),
)
WRONG = {"wrong answer", "wrong status", "no server", "broken"}


class Study:
    """One run of the plan, its samples by block. warmed: what the samples told of its warm-up while
    it waited for the other blocks."""

    def __init__(self, folder, run, warmed, blocks, odd, port):
        self.folder, self.run, self.warmed, self.blocks = folder, run, warmed, blocks
        self.odd, self.port, self.samples, self.connects = odd, port, {}, {}
        for sample in run.samples:
            kept = self.connects if sample["label"] == "connect" else self.samples
            kept.setdefault(int(sample["block"]), []).append(sample)

    def of(self, **wanted):
        for block in self.blocks:
            if all(getattr(block.cell, key) == value for key, value in wanted.items()):
                yield block, self.samples[block.number]


# In place of the command that runs other generators: writes down what it was told.
GENERATOR = """#!/bin/sh
[ "$4" = 4 ] && exit 7
printf '{"module":"%s %s","url":"%s","users":"%s","seconds":"%s"}' "$1" "$2" "$3" "$4" "$5" >"$6"
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    generator = folder / "generator"
    generator.write_text(GENERATOR)
    generator.chmod(0o755)
    assert len({each.experiment for each in DESIGN}) == 4
    with (
        node_server() as fork,
        node_server(NODE_APP_INSTANCE="7") as cluster,
        serving(Odd, requests=Counter(), connections=0) as odd,
    ):
        ports = {"fork": fork, "cluster": cluster, "odd": odd.server_port}
        ports["nobody"] = support.free_port()
        path, record = folder / "blocks.csv", folder / "warm-up.json"
        first = warm_up(DESIGN, seed=3)
        write_blocks(path, first, ports)
        warmed = []

        def draw_up():
            jtl = folder / "out.jtl"
            support.wait_until(lambda: last_block(jtl) == len(first), "the end of the warm-up")
            with Growing(jtl).read() as store:
                warmed.extend(read_spans(store))
            write_blocks(path, rounds(DESIGN, 3, after=len(first)), ports, append=True)
            record.touch()

        study_service = threading.Thread(target=draw_up)
        study_service.start()
        given = {"blocks": path, "users": THREADS, "sample_variables": "block,worker,server"}
        given |= {"warm_up_blocks": len(first), "warm_up_record": record}
        given |= {"crosscheck_command": generator, "crosscheck_folder": folder}
        run = Run(support.PLANS / "study.jmx", folder, folder, **given)
        study_service.join()
        yield Study(folder, run, warmed, read_blocks(path), odd, fork)


def begin(samples):
    return min(int(sample["timeStamp"]) for sample in samples)


def end(samples):
    return max(int(sample["timeStamp"]) + int(sample["elapsed"]) for sample in samples)


def test_all_blocks_of_the_file_are_done_in_its_order_and_jmeter_ends_by_itself(study):
    begins = {number: begin(samples) for number, samples in study.samples.items()}
    assert sorted(begins, key=begins.get) == [block.number for block in study.blocks]
    assert study.run.done.stderr == ""
    assert "ERROR" not in study.run.log.read_text()


def test_the_plan_waits_for_the_other_blocks_when_all_of_the_warm_up_has_been_written(study):
    first = [block for block in study.blocks if block.round == 0]
    told = {(span.block, span.label): span.requests for span in study.warmed}
    for block in first[:-1]:
        samples = study.samples[block.number]
        assert told[str(block.number), samples[0]["label"]] == len(samples)
    assert (str(first[-1].number), first[-1].cell.experiment) not in told
    assert len(study.samples) == len(study.blocks) > len(first)


def test_blocks_never_overlap(study):
    for before, after in pairwise(block.number for block in study.blocks):
        left, right = study.samples[before], study.samples[after]
        assert end(left) <= begin(right) + CLOCKS_MS, (before, after)


def of_others(block):
    """Whether another generator sends its requests."""
    return block.cell.experiment == CROSSCHECK and block.cell.arm != "jmeter"


def test_every_user_of_a_block_connects_once_before_its_load_and_after_the_last_ones(study):
    for block, samples in study.of():
        connects = study.connects.get(block.number, [])
        assert len(connects) == (0 if of_others(block) else block.cell.users), block
        if connects:
            users = {sample["threadName"] for sample in connects}
            assert users == {sample["threadName"] for sample in samples}
            assert end(connects) <= begin(samples) + CLOCKS_MS
            if block.number > 1:
                assert end(study.samples[block.number - 1]) <= begin(connects) + CLOCKS_MS


def test_a_block_has_its_users_who_send_exactly_their_requests_if_it_ends_with_those(study):
    for block, samples in study.of():
        sent = Counter(sample["threadName"] for sample in samples)
        assert len(sent) == (1 if of_others(block) else block.cell.users), block
        if block.cell.each:
            assert set(sent.values()) == {block.cell.each}, block


def test_a_timed_block_goes_on_after_the_first_answer(study):
    for block, samples in study.of(experiment="sum", each=0):
        assert max(Counter(sample["threadName"] for sample in samples).values()) > 1, block


def test_samples_are_named_after_their_experiment_and_only_what_is_wrong_fails(study):
    for block, samples in study.of():
        label = "another generator" if of_others(block) else block.cell.experiment
        success = "false" if block.cell.arm in WRONG else "true"
        assert {(it["label"], it["success"]) for it in samples} == {(label, success)}, block


def test_every_sample_says_which_worker_of_which_server_answered(study):
    def seen(**wanted):
        return {(s["worker"], s["server"]) for _, samples in study.of(**wanted) for s in samples}

    assert seen(app="fork", experiment="sum") == {("0", "")}
    assert seen(app="cluster") == {("7", "")}
    assert seen(app="odd") == {("5", "pi-2")}
    assert seen(app="nobody") == {("", "")}


def test_odd_paths_are_asked_as_they_are_by_connections_of_each_block_that_are_kept(study):
    assert set(study.odd.requests) == {ODD_PATH, "/teapot", "/healthz"}
    # Three rounds, the warm-up among them.
    assert study.odd.requests["/teapot"] == 3 * 2
    assert study.odd.requests[ODD_PATH] == 3 * (4 * 5 + 2)
    assert study.odd.connections == study.odd.requests["/healthz"] == 3 * (4 + 2 + 2)


def test_another_generator_is_started_once_a_block_and_told_what_to_do(study):
    for block, samples in study.of(arm="autocannon"):
        assert len(samples) == 1
        assert json.loads((study.folder / f"{block.number}.json").read_text()) == {
            "module": f"-m {autocannon.__name__}",
            "url": f"http://127.0.0.1:{study.port}/sum/1000",
            "users": "5",
            "seconds": "2",
        }
