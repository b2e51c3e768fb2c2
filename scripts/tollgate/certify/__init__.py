"""The merge gate measured: how often it cries wolf, how often it finds a known regression."""
