"""Which hosts JMeter asks without a proxy."""

import pytest

from tollgate.taurus.jmeter import direct_hosts

HERE = ["localhost", "127.0.0.1", "::1", "[::1]"]


@pytest.mark.parametrize(
    ("environment", "hosts", "more"),
    [
        ({}, [], []),
        ({}, ["127.0.0.1", "shop.example", "127.0.0.9"], ["127.0.0.9"]),
        (
            {"JAVA_TOOL_OPTIONS": "-Xmx1g -Dhttp.nonProxyHosts=*.corp|db -Da=b"},
            [],
            ["*.corp", "db"],
        ),
        (
            {"JVM_ARGS": "-Dhttp.nonProxyHosts='x'", "JAVA_TOOL_OPTIONS": "-Dhttp.nonProxyHosts=y"},
            [],
            ["x"],
        ),
    ],
)
def test_this_machine_by_any_name_of_the_plan_and_whatever_the_user_excepts(
    environment, hosts, more
):
    assert direct_hosts(environment, hosts).split("|") == [*HERE, *more]
