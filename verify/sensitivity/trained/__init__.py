"""Claims on the sensitivity of trained models, and what they share.

digits_sensitivity         networks trained on digits, and noise on one patch
sensitivity_regulariser    training to bear noise on a patch
text_positions             which words of a text the answers depend on
classifiers                how often the answers of trained classifiers change with one place
pictures                   the pictures
"""
