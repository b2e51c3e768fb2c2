"""taurus.yml as Taurus merges it with one of its kinds."""

from bzt.engine.dicts import Configuration

from tollgate.base.paths import SUITE


def kind(name="study"):
    config = Configuration()
    config.load([str(SUITE / "taurus.yml")])
    config.merge(config["cli-aliases"][name])
    return config
