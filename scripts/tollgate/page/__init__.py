"""Self-contained pages: what they are made of, and their styles and scripts."""
