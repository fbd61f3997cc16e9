"""Claims on models trained on graphs, and what they share.

connectivity_trained    one disentangled layer, by the graphs of its training
connectivity_depth      softmax transformers of one and of two layers
trial                   which graphs a model is right about, and its weights by channel
pictures                the pictures
"""
