"""The frame of the page on which a run is watched while it measures."""
