"""Claims on trained lookup networks and sketches, and what they are measured by.

lookups           what networks look at and find, in intervals; their decision trees
lookups_picture   accuracy by lookup, in a panel
planted           strategies in the place of networks, for the self-test
"""
