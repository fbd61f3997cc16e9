"""The claim on models trained for induction.

induction_trained   the claim
circuits            attention patterns and circuits of trained and built models
induction_picture   the picture
"""
