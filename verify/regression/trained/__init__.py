"""Claims on models trained for regression, and what they share.

predictors      models and algorithms, by what they predict
probes          linear read-outs of layers
similarities    how alike layers and algorithms are, and how the steps that match grow
published       published similarities
pictures        the pictures
"""
