"""Whether head answers something else: rarely found of sides that do not, and of which that do.

docs/compare-reference.md has what these tests print, which `scripts/test` shows with -rP.
"""

import random
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from tollgate.compare import unlike
from tollgate.compare.model import Requests
from tollgate.compare.unlike import LEVEL, LabelAnswers, unlike_answers

RUNS = 2000
#: The looks at which a run may have ended, as shares of its budget.
LOOKS = (0.1, 0.15, 0.2)
SECONDS = 90
OF_ROW = np.exp(np.random.default_rng(1).normal(8, 1.5, 50))


@dataclass(frozen=True)
class Sent:
    """Requests as the coin sent them. process: from 0 at either side."""

    rng: np.random.Generator
    side: np.ndarray
    row: np.ndarray
    process: np.ndarray
    second: np.ndarray

    @property
    def is_head(self):
        return self.side == 1

    def some(self, share):
        return self.rng.random(len(self.side)) < share


def same_size(sent):
    return np.full(len(sent.side), 1000)


def usual_code(sent):
    return np.full(len(sent.side), 200)


def answered(rng, sizes=same_size, codes=usual_code, rate=20, threads=0, failed=(0.0, 0.0)):
    """A label with so many requests a second a side, of 50 rows, to four processes a side."""
    n = rng.poisson(2 * rate * SECONDS)
    second = np.sort(rng.integers(0, SECONDS, n))
    thread = rng.integers(0, 2 * threads, n) if threads else None
    side = thread % 2 if threads else rng.integers(0, 2, n)
    sent = Sent(rng, side, rng.integers(0, 50, n), rng.integers(0, 4, n), second)
    size, (names, place) = sizes(sent), np.unique(codes(sent).astype(str), return_inverse=True)
    mine = [side == it for it in (0, 1)]
    columns = second, sent.row, size.astype(np.int64), sent.process, thread, None, place
    both = (Requests(*(None if it is None else it[of] for it in columns)) for of in mine)
    return LabelAnswers("list", tuple(map(str, names)), tuple(both), SECONDS, failed)


#: Sides that answer the same, each in a way of its own.
ALIKE = {
    "random sizes": {"sizes": lambda it: 200 + np.exp(it.rng.normal(7, 1, len(it.side)))},
    "sizes without a mean": {"sizes": lambda it: 200 + 500 * it.rng.pareto(1.1, len(it.side))},
    "sizes by row": {"sizes": lambda it: OF_ROW[it.row]},
    "random sizes by row": {
        "sizes": lambda it: (
            OF_ROW[it.row] * np.exp(it.rng.normal(0, 0.5, 50))[it.rng.integers(0, 50, len(it.side))]
        )
    },
    "few answers, some without a body": {
        "sizes": lambda it: np.where(it.some(0.1), 200, 12_000),
        "rate": 1,
    },
    "rare sizes": {"sizes": lambda it: np.where(it.some(0.5), 200, 12_000), "rate": 0.1},
    "rare codes": {"codes": lambda it: np.where(it.some(0.003), 204, 200)},
    "codes that come in bursts": {
        "codes": lambda it: np.where((it.second % 17 == 0) & it.some(0.5), 204, 200)
    },
    "a process in a state of its own": {
        "codes": lambda it: np.where(
            (it.process + 4 * it.side == it.rng.integers(8)) & (it.second > 30), 203, 200
        ),
        "sizes": lambda it: np.where((it.process + 4 * it.side == it.rng.integers(8)), 300, 1000),
    },
    "codes of users": {"codes": lambda it: np.where(it.some(0.5), 204, 200), "threads": 16},
}


@pytest.mark.statistics
def test_sides_that_answer_the_same_are_told_apart_in_at_most_a_thousandth_of_runs(repetitions):
    made, seed = repetitions(10 * RUNS), random.randrange(2**32)
    print(f"seed {seed}")
    rng, ways = np.random.default_rng(seed), [*ALIKE.values()]
    found = [bool(unlike_answers([answered(rng, **ways[at % len(ways)])], LOOKS)) for at in made]
    print(f"found in {sum(found)} of {made.made} runs")
    assert stats.binomtest(sum(found), made.made, LEVEL, alternative="greater").pvalue > 1e-4


@pytest.mark.statistics
def test_the_level_is_kept_where_any_difference_counts(repetitions, monkeypatch):
    """Without what a size has to be off by, and with one look, an error of 5 % is nearly spent."""
    for name, value in (("LEVEL", 0.05), ("SIZE", 0.0), ("LEAST_BYTES", 0)):
        monkeypatch.setattr(unlike, name, value)
    made, seed = repetitions(RUNS), random.randrange(2**32)
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    ways = [ALIKE[it] for it in ("random sizes", "rare codes", "codes that come in bursts")]
    found = [bool(unlike_answers([answered(rng, **ways[at % 3])], (1.0,))) for at in made]
    assert stats.binomtest(sum(found), made.made, 0.05, alternative="greater").pvalue > 1e-4


OTHERWISE = {
    "nothing new": {"codes": lambda it: np.where(it.is_head, 304, 200)},
    "no body": {"sizes": lambda it: np.where(it.is_head, 200, 12_000)},
    "no body in a fifth": {
        "sizes": lambda it: np.where(it.is_head & it.some(0.2), 200, OF_ROW[it.row])
    },
    "a third less, at random": {
        "sizes": lambda it: (
            np.exp(it.rng.normal(8, 0.5, len(it.side))) * np.where(it.is_head, 0.67, 1)
        )
    },
    "no content in 3 %": {"codes": lambda it: np.where(it.is_head & it.some(0.03), 204, 200)},
    "a code less": {"codes": lambda it: np.where(~it.is_head & it.some(0.03), 206, 200)},
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_other_answers_are_found_at_the_first_look(name):
    rng = np.random.default_rng(7)
    found = [unlike_answers([answered(rng, **OTHERWISE[name])], LOOKS[:1]) for _ in range(200)]
    print(f"{name}: found in {sum(map(bool, found))} of {len(found)} runs")
    assert sum(map(bool, found)) >= 180


def test_of_a_rare_label_answers_are_found_that_do_not_overlap_by_what_matters():
    rng, found = np.random.default_rng(11), []
    for size in (300, 11_600):  # without a body, and 3 % less
        answers = (
            answered(
                rng, lambda it, own=size: np.where(it.is_head, own + it.row, 12_000), rate=0.15
            )
            for _ in range(40)
        )
        found.append(sum(bool(unlike_answers([it], LOOKS)) for it in answers))
    assert found[0] >= 36
    assert found[1] == 0


SMALL = {
    "a version": lambda it: 1000 + it.side,
    "a header of 30 bytes": lambda it: 150 + 30 * it.side,
    "4 %": lambda it: OF_ROW[it.row] * np.where(it.is_head, 0.96, 1),
    "4 %, at random": lambda it: np.exp(it.rng.normal(8, 0.5, len(it.side)) - 0.04 * it.side),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_size_that_is_off_by_less_than_matters_is_the_same(name):
    rng = np.random.default_rng(8)
    assert all(unlike_answers([answered(rng, SMALL[name])], LOOKS) == () for _ in range(20))


def test_what_fails_at_one_side_is_no_other_mix_of_the_answers_that_are_left():
    """Of a tenth of the rows, which alone answer 204, head fails."""
    rng = np.random.default_rng(9)
    kept = {"codes": lambda it: np.where((it.row < 5) & ~it.is_head, 204, 200)}
    (unlike_mix,) = unlike_answers([answered(rng, **kept)], LOOKS)
    assert unlike_mix.codes[0].code == "204"
    assert unlike_answers([answered(rng, **kept, failed=(0.0, 0.12))], LOOKS) == ()


def test_no_answers_at_all_are_not_told_apart():
    rng = np.random.default_rng(10)
    assert unlike_answers([answered(rng, rate=0)], LOOKS) == ()
    assert unlike_answers([], LOOKS) == ()
