"""Claims on trained models that add, and on embeddings of numbers.

number_models   trained adders: contributions of modules to the logits, and filters of contributions
minilm          number embeddings of a published model
"""
