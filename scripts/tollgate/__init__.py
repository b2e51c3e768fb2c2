"""Tollgate: the Taurus modules and the pure rooms behind them."""
