"""The library as pages: what is stated, with its weights, its evidence, and models that run."""
