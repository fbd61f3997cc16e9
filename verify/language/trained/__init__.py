"""The claims on models trained on languages, with their pictures.

even_process_trained    a known source, with the probabilities of all words
facts_trained           hallucination and over-confidence during training on documents
parity_trained          the parity of half of the bits, with and without a chain of thought
figures                 the measures of a model trained on facts
planted                 hand-built models in place of trained ones, for the self-test
"""
