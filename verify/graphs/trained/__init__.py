"""Claims on models trained on graphs, and what they share.

connectivity_trained    one disentangled layer, by the distribution of its training graphs
connectivity_depth      softmax transformers of one and of two layers
trial                   accuracies of a model on graphs, and its weights by channel
pictures                the pictures of both claims
"""
