"""The list of all runs of a folder, and how their figures moved from run to run."""
