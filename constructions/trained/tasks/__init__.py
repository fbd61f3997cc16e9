"""What models are trained on, one task a file; `constructions.trained.presets` names them all."""
