"""The claim on models trained on the induction task, and its modules.

induction_trained   the claim
circuits            attention patterns and circuits of trained and built models
induction_picture   the picture
"""
