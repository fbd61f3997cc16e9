"""Claims on trained models that add, and on embeddings of numbers.

number_models   trained adders: the contribution of each module to the logits, and filters of it
minilm          number embeddings of a published model
"""
