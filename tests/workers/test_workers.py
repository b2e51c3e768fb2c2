import json
import subprocess
import sys

import pytest

from support.watch_lines import BEGAN, ENDED, look, texts, watch
from tollgate.workers.reading import read_watch
from tollgate.workers.watching_cost import WatchingCost, share


def looks(seconds=range(-1, 11), **changed):
    """Of two workers. changed: `at4_1={...}` changes the line of worker 1 at second 4, None leaves
    it out."""
    lines = []
    for second in seconds:
        for worker in range(2):
            change = changed.get(f"at{second}_{worker}", {})
            if change is not None:
                lines.append(look(second, worker, **change))
    return lines


def from_second(second, worker, **change):
    return {f"at{later}_{worker}": change for later in range(second, 11)}


def seen(lines):
    return watch(lines)[0]


REBORN = "died and was started again"


def test_workers_that_stayed_are_counted_and_give_no_event():
    found = seen(looks())
    assert (found.seen, texts(found), found.problem) == (2, (), "")


def test_a_worker_killed_and_restarted_between_two_looks_is_told():
    found = seen(looks(**from_second(4, 1, pid=777, restarts=1)))
    assert texts(found) == (f"worker 1 (pid 101) {REBORN} 4 s into the execution",)
    assert found.seen == 2


@pytest.mark.parametrize("change", [{"restarts": 1}, {"pid": 555}])
def test_a_restart_is_told_even_if_the_pid_came_back_or_the_count_was_reset(change):
    assert len(texts(seen(looks(**from_second(4, 0, **change))))) == 1


def test_each_of_several_deaths_is_told():
    twice = from_second(3, 0, pid=301, restarts=1) | from_second(7, 0, pid=302, restarts=2)
    deaths = [event.split(" died")[0] for event in texts(seen(looks(**twice)))]
    assert deaths == ["worker 0 (pid 100)", "worker 0 (pid 301)"]


def test_a_worker_that_is_gone_is_told_and_not_counted():
    found = seen(looks(**{f"at{second}_1": None for second in range(6, 11)}))
    assert texts(found) == ("worker 1 (pid 101) was gone 6 s into the execution",)
    assert found.seen == 1


def test_a_worker_that_came_to_be_is_told():
    found = seen(looks() + [look(second, 2) for second in range(5, 11)])
    assert texts(found) == ("worker 2 (pid 102) came to be 5 s into the execution",)
    assert found.seen == 2


def test_a_worker_that_was_not_online_at_one_look_is_told_and_not_counted():
    found = seen(looks(at5_0={"status": "launching"}))
    assert texts(found) == ("worker 0 (pid 100) was launching 5 s into the execution",)
    assert found.seen == 1


def test_a_change_at_the_very_start_is_told_against_the_last_look_before_it():
    found = seen(looks(**from_second(1, 0, pid=777, restarts=1)))
    assert texts(found) == (f"worker 0 (pid 100) {REBORN} 1 s into the execution",)
    before = looks(range(-9, 11), **{f"at{second}_1": None for second in range(-9, -4)})
    assert texts(seen(before)) == ()


def test_what_happens_after_the_end_is_another_executions():
    later = [look(second, pid=900 + second, restarts=second) for second in range(13, 17)]
    assert texts(seen(looks() + later)) == ()


def test_silence_of_the_watcher_proves_nothing():
    for left in (range(-1, 4), range(6, 11), [-1, 0, 1, 2, 8, 9, 10]):
        found = seen(looks(left))
        assert found.problem.startswith("the workers of cluster were not watched for ")
        assert found.problem.endswith(" s: see workers.err")
    assert seen(looks([-1, 0, 1, 2, 7, 8, 9, 10])).problem == ""


def test_no_look_at_all_says_so_and_counts_nobody():
    assert seen([]) == seen(looks(range(20, 30)))
    assert seen([]).seen is None
    assert seen([]).problem.startswith("the workers of cluster were not watched")


def test_what_went_before_a_silence_is_told_all_the_same():
    found = seen(looks(range(-1, 4), **from_second(2, 0, pid=777)))
    assert len(texts(found)) == 1
    assert found.problem


def test_other_apps_are_ignored():
    lines = [look(second, pid=second, restarts=9, app="fork") for second in range(-1, 11)]
    lines += looks()
    found = seen(lines)
    assert (found.seen, texts(found), found.problem) == (2, (), "")
    assert len(texts(watch(lines, app="fork")[0])) == 10


def test_a_last_line_that_was_cut_off_is_left_out():
    assert watch(looks(), tail=json.dumps(look(11))[:40])[0] == seen(looks())


@pytest.mark.parametrize("text", [None, "{]\n", "\x00\x01\n"])
def test_a_file_that_cannot_be_read_is_a_problem_of_one_line(tmp_path, text):
    file = tmp_path / "workers.jsonl"
    if text is not None:
        file.write_text(text)
    found = read_watch(file, "cluster", BEGAN, ENDED)[0]
    assert found.seen is None
    assert found.problem.startswith("workers.jsonl can't be read: ")
    assert "\n" not in found.problem


def test_a_worker_that_died_after_the_last_look_is_told_by_the_first_one_after_the_end():
    lines = [*looks(range(-1, 10)), look(10.6), look(10.6, 1, pid=999, restarts=1)]
    assert texts(seen(lines)) == (f"worker 1 (pid 101) {REBORN} 11 s into the execution",)


#: Burns half a second of CPU, says so, and waits to be told to end.
BUSY = "import time\nwhile time.process_time() < .5: pass\nprint(flush=True)\ninput()"


@pytest.fixture
def process():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", BUSY], **pipes) as busy:
        yield busy
        busy.kill()


def test_cpu_is_measured_and_outlives_the_process(process):
    cost = WatchingCost(process.pid, process.pid)
    process.stdout.readline()
    cost.read()
    spent = cost.so_far()
    assert spent["watcher_cpu_s"] == spent["pm2_cpu_s"] > 0.2
    process.kill()
    process.wait()
    cost.read()
    assert cost.so_far()["watcher_cpu_s"] == spent["watcher_cpu_s"]


def test_a_process_that_nobody_knows_is_not_measured(process):
    process.kill()
    process.wait()
    cost = WatchingCost(process.pid, None)
    cost.read()
    spent = cost.so_far()
    assert (spent["watcher_cpu_s"], spent["pm2_cpu_s"], share(spent)) == (None, None, None)


def test_the_share_of_a_core_is_both_over_the_time_and_unknown_without_a_measurement():
    assert share({"watcher_cpu_s": 1.0, "pm2_cpu_s": 2.0, "wall_s": 60.0}) == 0.05
    for watching in (None, {}, {"watcher_cpu_s": 1.0, "wall_s": 5.0}):
        assert share(watching) is None
