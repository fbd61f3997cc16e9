"""Models trained on tasks for which a program is compiled to weights.

chomsky_trained    the claim; its picture is in chomsky_trained_picture
generalisation     accuracies by length, of a trained model and of its null models
planted            hand-built models in place of trained ones, for the self-test
"""
