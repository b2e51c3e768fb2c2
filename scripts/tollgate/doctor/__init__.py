"""The doctor: whether a run can start on this machine, and whether its figures can be believed."""
