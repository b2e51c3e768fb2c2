"""Base against head, side by side under one load: the merge gate."""
