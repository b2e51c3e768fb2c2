"""index.html of a run, of any kind: from the verdict down to links to the raw files."""
