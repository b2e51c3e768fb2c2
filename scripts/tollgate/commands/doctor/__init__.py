"""What is in the way of a run on this machine."""
