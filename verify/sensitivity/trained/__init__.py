"""Claims on the sensitivity of trained models.

digits_sensitivity         networks trained on digits, and noise on one patch
sensitivity_regulariser    training with a penalty on sensitivity to noise on a patch
text_positions             the influence of each word of a text on the predictions
classifiers                fractions of predictions of trained classifiers that change
pictures                   the pictures
"""
