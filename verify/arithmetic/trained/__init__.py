"""Claims on trained models that add, and on embeddings of numbers.

number_models   trained adders: what each module adds to the logits, without some of its bins
minilm          number embeddings of a published model
"""
