"""Claims about language: log-linear models, calibration, generalisation, worked steps."""
