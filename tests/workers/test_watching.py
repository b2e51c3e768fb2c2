import subprocess
import sys

import pytest

from tollgate.workers.watching_cost import WatchingCost, share

#: Burns half a second of CPU, says so, and waits to be told to end.
BUSY = "import time\nwhile time.process_time() < .5: pass\nprint(flush=True)\ninput()"


@pytest.fixture
def process():
    with subprocess.Popen(
        [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as busy:
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
    assert (spent["watcher_cpu_s"], spent["pm2_cpu_s"]) == (None, None)
    assert share(spent) is None


def test_the_share_of_a_core_is_both_over_the_time():
    assert share({"watcher_cpu_s": 1.0, "pm2_cpu_s": 2.0, "wall_s": 60.0}) == 0.05


@pytest.mark.parametrize("watching", [None, {}, {"watcher_cpu_s": 1.0, "wall_s": 5.0}])
def test_without_a_measurement_there_is_no_share(watching):
    assert share(watching) is None
