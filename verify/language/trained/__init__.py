"""The claims on models trained on languages, their pictures beside them.

even_process_trained    a known source: all words scored
facts_trained           documents: hallucination and over-confidence along training
parity_trained          the parity of half of the letters, with steps and without
figures                 what is measured of a model trained on facts
planted                 built models in the place of trained ones, for the self-test
"""
