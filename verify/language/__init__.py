"""Claims about language: log-linear models, calibration, generalisation, chain of thought."""
