"""`tollgate init`: a suite in any repository."""
