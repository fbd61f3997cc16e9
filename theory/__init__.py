"""The mathematics: algorithms, tasks and stated rates. Never imports torch.

Import a topic, for example `theory.regression`. Importing `theory` loads no topic.
"""
