"""The gate of a comparison measured by live runs of itself: false alarms, power, times."""
