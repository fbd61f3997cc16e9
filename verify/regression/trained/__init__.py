"""Claims on models trained for regression, and their common modules.

predictors      the predictions of models and algorithms
probes          linear probes of layers
similarities    similarity of layers and algorithms, and growth of the matching steps
published       published similarities
pictures        the pictures
"""
