"""Claims on trained lookup networks and sketches, and their measurements.

lookups           accuracies of networks by lookup, with intervals; their decision trees
lookups_picture   accuracy by lookup, in a panel
planted           strategies in place of networks, for the self-test
"""
