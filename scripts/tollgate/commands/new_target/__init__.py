"""The files of a new target, all of them or none."""
