"""What others see of a run: its requests, workers and decisions by OpenTelemetry.

In: the samples and workers of a run under way, or of one that has ended, and its verdict. Out:
messages to a collector, and how many samples are in what it has acknowledged; OpenMetrics text.
"""
