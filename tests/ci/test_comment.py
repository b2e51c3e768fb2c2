"""The script that puts a verdict into one comment; its `gh` writes down what it is asked."""

import pytest

import support
from support import ci_files

GH = """for word in "$@"; do printf '%s\\n' "$word"; done >>asked
printf '%s\\n' -- >>asked
case "$*" in *--paginate*) cat comments ;; *) cp comment.md sent ;; esac
"""
COMMENTS, COMMENT = "repos/o/r/issues/7/comments", "repos/o/r/issues/comments"


@pytest.fixture
def comment(tmp_path):
    """Runs the step on this verdict, where these ids are what --jq leaves of the comments."""
    tools = tmp_path / "bin"
    support.script(tools / "gh", GH)

    def run(verdict, *ids):
        if verdict is not None:
            (tmp_path / "verdict.md").write_text(verdict)
        (tmp_path / "comments").write_text("".join(f"{each}\n" for each in ids))
        env = support.environment(COMMENTS=COMMENTS, COMMENT=COMMENT, PAGE="https://host/run/1")
        env["RUN"] = "compare"
        env["PATH"] = f"{tools}:{env['PATH']}"
        script = ci_files.COMMENT.with_name("comment")
        done = support.run(script, "verdict.md", cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
        return done

    return run


def asked(tmp_path):
    calls = (tmp_path / "asked").read_text().split("--\n")
    return [call.splitlines() for call in calls if call]


def test_the_first_verdict_becomes_a_comment(comment, tmp_path):
    comment("## Tollgate: PASS (compare)\n")
    assert asked(tmp_path)[-1] == ["api", "--silent", COMMENTS, "--field", "body=@comment.md"]
    assert (tmp_path / "sent").read_text() == (
        "<!-- tollgate compare -->\n## Tollgate: PASS (compare)\n\n"
        "[The whole run](https://host/run/1)\n"
    )


def test_the_next_one_replaces_it(comment, tmp_path):
    comment("## Tollgate: FAIL (compare)\n", "42", "43")
    put = ["--method", "PATCH", f"{COMMENT}/42", "--field", "body=@comment.md"]
    assert asked(tmp_path)[-1] == ["api", "--silent", *put]


def test_it_is_found_by_its_mark_among_those_of_bots_alone(comment, tmp_path):
    comment("PASS\n")
    looked_for = asked(tmp_path)[0][-1]
    assert 'startswith("<!-- tollgate compare -->")' in looked_for
    assert '.user.type == "Bot"' in looked_for
    assert (tmp_path / "sent").read_text().startswith("<!-- tollgate compare -->\n")


def test_a_verdict_that_is_too_long_is_cut_between_characters(comment, tmp_path):
    comment("a" + "€" * 40_000)
    sent = (tmp_path / "sent").read_text(encoding="utf-8")
    assert len(sent.encode()) < 65_536
    assert sent.count("€") == 19_999


def test_a_name_in_code_that_is_cut_in_two_notifies_nobody(comment, tmp_path):
    whole = "| `GET @kept` | PASS |\n"
    comment(f"{whole}| `GET @octocat {'a' * 60_000}` | PASS |\n")
    sent = (tmp_path / "sent").read_text()
    assert f"{whole}\n" in sent
    assert "octocat" not in sent


@pytest.mark.parametrize("filler", [10, 59_900, 60_100])
def test_a_comment_that_is_cut_closes_what_is_open_and_says_that_it_is_cut(
    comment, tmp_path, filler
):
    row = "| `GET @octocat` | 3 ms | PASS |\n"
    head = f"## Tollgate: FAIL (compare)\n\n{'a' * filler}\n\n"
    comment(f"{head}<details><summary>Held</summary>\n\n{row * 3000}\n</details>\n")
    sent = (tmp_path / "sent").read_text()
    lines = sent.splitlines()
    assert lines[1] == "## Tollgate: FAIL (compare)"
    assert lines[-1] == "This comment is cut: [The whole run](https://host/run/1) has the rest."
    assert lines.count("</details>") == sum(it.startswith("<details>") for it in lines)
    assert {it for it in lines if "octocat" in it} <= {row.strip()}
    assert len(sent.encode()) < 65_536


def test_a_comparison_that_left_no_verdict_makes_no_comment(comment, tmp_path):
    comment(None)
    assert len(asked(tmp_path)) == 1  # which comments there are
    assert not (tmp_path / "sent").exists()


def test_it_takes_the_verdict_before_it_out_of_the_comment(comment, tmp_path):
    comment(None, "42")
    assert asked(tmp_path)[-1][:5] == ["api", "--silent", "--method", "PATCH", f"{COMMENT}/42"]
    assert "The last run of compare ended without a verdict." in (tmp_path / "sent").read_text()


def test_what_a_verdict_says_is_never_run(comment, tmp_path):
    text = "$(touch ran) `touch ran` ; touch ran\n%s %n \\n"
    comment(text)
    assert text in (tmp_path / "sent").read_text()
    assert not (tmp_path / "ran").exists()
