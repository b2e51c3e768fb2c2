"""What the page of a run says of a study."""
