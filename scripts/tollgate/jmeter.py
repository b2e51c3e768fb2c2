"""Taurus executor `jmeter`, without a JVM started for each execution to see whether one starts."""

from __future__ import annotations

from bzt.modules.jmeter import JMeter, JMeterExecutor


class InstalledJMeter(JMeterExecutor):
    """Runs the JMeter that scripts/bootstrap has installed, or the user's own that it has checked.

    Where it is missing, `targets` has said so before: Taurus would try to download one instead.
    """

    def install_required_tools(self) -> None:
        """Take the tool as it is."""
        self.tool = self._get_tool(JMeter, config=self.settings, props=self.properties)
