"""The training tasks, one per file; `constructions.trained.presets` names them."""
