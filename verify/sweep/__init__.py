"""Many runs of one claim: plans, their files and results, Dask."""
