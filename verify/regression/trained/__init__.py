"""Claims on models trained for regression, and what they share.

predictors      models and algorithms, by what they predict
probes          linear read-outs of layers
weights         the weights that layers induce
similarities    how alike layers and algorithms are
growth          how the steps that match grow from layer to layer
published       published similarities
pictures        the pictures
"""
