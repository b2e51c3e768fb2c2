"""`tollgate new target NAME`: a skeleton that runs at once, for somebody to put their own in."""
