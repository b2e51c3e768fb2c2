"""The gate of a comparison measured by live runs of itself: false positives, power, times."""
