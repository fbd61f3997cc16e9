"""The claims on models trained on languages, with their pictures.

even_process_trained    models trained on a known source, by the probabilities of all words
facts_trained           hallucination and over-confidence of models trained on documents
parity_trained          models trained on a parity with and without a chain of thought
figures                 the measures of a model trained on facts
planted                 hand-built models in place of trained ones, for the self-test
"""
