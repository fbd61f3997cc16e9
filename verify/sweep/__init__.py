"""Sweeps, which are many runs of one claim: plans, files, results and Dask."""
