from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest

from support.jtl_rows import HEADER, START_MS, lines
from tollgate.compare.samples import read
from tollgate.samples import reading
from tollgate.samples.layout import JtlError

#: JMeter puts the names of sample variables in quotes, and no others.
COMPARE_HEADER = HEADER + ',"TESTSTART.MS","coin"'
LABELS = ("sum", "search")
#: The first sample comes a little after JMeter's start.
ORIGIN_MS = START_MS - 120
WARMUP_S = 3
TRANSACTION = "Number of samples in transaction : 1, number of failing samples : 0"


@dataclass(frozen=True)
class Sent:
    """One request; coin as JMeter writes the variable."""

    start_ms: int
    elapsed_ms: int
    label: str = "sum"
    coin: str = "0"
    ok: bool = True
    message: str = "OK"

    @property
    def fields(self):
        code = "200" if self.ok else "500"
        words = (self.label, code, self.message, "sum 1-7", str(self.ok).lower())
        rest = (120, 2, 3, self.elapsed_ms, "h", 1, ORIGIN_MS)
        return self.start_ms, self.elapsed_ms, *words, *rest, self.coin


def load(seconds=8, rate=30, seed=1):
    """Requests to both sides, in the order of their ends, as JMeter writes them."""
    rng = np.random.default_rng(seed)
    sent = []
    for at in rng.uniform(0, 1000 * seconds, seconds * rate):
        elapsed, label = int(rng.gamma(4, 10)), LABELS[rng.integers(2)]
        coin, ok = str(rng.integers(2)), bool(rng.random() > 0.05)
        sent.append(Sent(START_MS + int(at), elapsed, label, coin, ok))
    return sorted(sent, key=lambda it: it.start_ms + it.elapsed_ms)


def write(folder, sent, header=COMPARE_HEADER):
    path = folder / "kpi.jtl"
    path.write_bytes(lines((it.fields for it in sent), header=header))
    return path


def check(path, sent, labels=LABELS, warmup_s=WARMUP_S, budget_s=600):
    """Every number of every block that the file has against a look at each request."""
    found = read(path, labels, warmup_s, budget_s)
    last_ms = max(it.start_ms for it in sent) - ORIGIN_MS - 1000 * warmup_s
    seconds = min(int(max(0, last_ms // 1000)), budget_s)
    assert (found.seconds, found.origin_ms) == (seconds, ORIGIN_MS)
    assert [blocks.label for blocks in found.blocks] == list(labels)
    for blocks in found.blocks:
        for coin, side in (("0", blocks.base), ("1", blocks.head)):
            assert side.counts.shape == (seconds, len(blocks.values_ms))
            for second in range(seconds):
                from_ms = ORIGIN_MS + 1000 * (warmup_s + second)
                mine = [
                    it
                    for it in sent
                    if (it.label, it.coin) == (blocks.label, coin)
                    and from_ms <= it.start_ms < from_ms + 1000
                ]
                told = zip(blocks.values_ms.tolist(), side.counts[second].tolist(), strict=True)
                times = Counter(it.elapsed_ms for it in mine)
                assert {value: count for value, count in told if count} == times
                assert side.failed[second] == sum(not it.ok for it in mine)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        *({"warmup_s": it} for it in (0, 0.25, 1.5, 7, 30)),  # seconds count from its end
        {"budget_s": 2},  # nothing after it is counted
        {"labels": ["search"]},  # those that nobody asked for are left out
        {"labels": ("pi", *LABELS)},  # those without samples have blocks too
    ],
    ids=str,
)
def test_blocks_hold_what_a_look_at_every_request_finds(tmp_path, changes):
    sent = load()
    check(write(tmp_path, sent), sent, **changes)


def test_the_order_of_lines_does_not_matter(tmp_path):
    sent = load()
    mixed = [sent[place] for place in np.random.default_rng(2).permutation(len(sent))]
    check(write(tmp_path, mixed), sent)


def test_rows_of_transactions_are_no_requests_whatever_their_coin(tmp_path):
    sent = load()
    rows = [replace(sent[place], coin="", message=TRANSACTION) for place in (0, 100)]
    check(write(tmp_path, [rows[0], *sent, rows[1]]), sent)


def test_a_file_that_still_grows_tells_what_is_whole_in_it(tmp_path):
    sent = [replace(it, message='said "no",\nand went') for it in load(5)]
    path = write(tmp_path, sent)
    written = path.read_bytes()
    ends = np.cumsum([len(lines([it.fields], header="")) - 1 for it in sent])
    ends += len(written) - ends[-1]
    for cut in np.random.default_rng(3).integers(1, ends[-1] - ends[-20], 12):
        path.write_bytes(written[:-cut])
        whole = zip(sent, ends, strict=True)
        check(path, [it for it, end in whole if end <= len(written) - cut])


def test_what_is_added_while_the_file_is_read_does_not_disturb(tmp_path, monkeypatch):
    sent = load()
    path, survey = write(tmp_path, sent[:150]), reading._survey

    def survey_and_write_on(*arguments):
        tail = survey(*arguments)
        with path.open("ab") as file:
            file.write(lines((it.fields for it in sent[150:]), header="")[1:])
        return tail

    monkeypatch.setattr(reading, "_survey", survey_and_write_on)
    check(path, sent[:150])


def refusal(path):
    with pytest.raises(JtlError) as refused:
        read(path, LABELS, WARMUP_S, 600)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("coin", ["", "null", "2", "-1", "heads"])
def test_a_sample_that_went_nobody_knows_where_is_refused_by_its_label(tmp_path, coin):
    sent = load()
    sent[77] = replace(sent[77], coin=coin)
    said = refusal(write(tmp_path, sent))
    assert f"kpi.jtl: coin = {coin!r}: neither 0 nor 1" in said
    assert repr(sent[77].label) in said
    assert "plans/compare.jmx" in said


@pytest.mark.parametrize("name", ["coin", "TESTSTART.MS"])
def test_a_file_of_another_plan_is_refused_by_the_column_that_it_lacks(tmp_path, name):
    said = refusal(write(tmp_path, load(), COMPARE_HEADER.replace(name, "other")))
    assert f"kpi.jtl:1: the header has no column {name};" in said
    assert "set JMeter's property sample_variables to TESTSTART.MS,coin" in said


def test_a_file_without_a_whole_sample_is_refused(tmp_path):
    assert "cannot be read: No such file" in refusal(tmp_path / "kpi.jtl")
    said = "holds no whole sample that says when JMeter started; see jmeter.log"
    assert said in refusal(write(tmp_path, []))
    path = write(tmp_path, load()[:1])
    path.write_bytes(path.read_bytes()[:-1])
    assert said in refusal(path)


def test_values_that_jmeter_never_writes_are_refused_by_line_and_field(tmp_path):
    path = write(tmp_path, load())
    path.write_bytes(path.read_bytes().replace(b",true,", b",maybe,", 1))
    assert "success = 'maybe'" in refusal(path)
