"""Simulations and measurements whose tables stand in docs/: see scripts/dev/bench."""
