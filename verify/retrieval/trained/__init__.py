"""The claim on models trained for induction, and what it looks at.

induction_trained   the claim
circuits            what heads attend to, and what their weights match and copy
induction_picture   the picture
"""
