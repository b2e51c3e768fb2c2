"""What several tests of the rooms share."""

import pytest

import run_folder


@pytest.fixture
def judged(tmp_path):
    """Makes a run's folder, may put another JTL there, and returns the verdict or a refusal."""

    def judge(*criteria, spoiled=None, sealed=False, **changes):
        run_folder.make(tmp_path, criteria or run_folder.HOLDS, **changes)
        if spoiled is not None:
            run_folder.spoil(tmp_path, spoiled, sealed)
        return run_folder.verdict_of(tmp_path)

    return judge


@pytest.fixture
def written(tmp_path):
    """Writes bytes to a JTL and returns its path."""

    def write(content):
        path = tmp_path / "kpi.jtl"
        path.write_bytes(content)
        return path

    return write
