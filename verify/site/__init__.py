"""The library as pages: statements with weights and evidence, and models that run."""
