"""What all pages are made of."""
