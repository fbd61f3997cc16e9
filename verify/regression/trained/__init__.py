"""Claims about trained models, on the checkpoints that come with the package."""
