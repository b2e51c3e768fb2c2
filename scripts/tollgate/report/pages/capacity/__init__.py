"""What the page of a run says of a search for capacity."""
