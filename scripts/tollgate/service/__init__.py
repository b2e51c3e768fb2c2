"""Services of a user's own: how they are described in taurus.yml, and the plan of each kind of run
that comes of it. Pure but for the files that a description names."""
