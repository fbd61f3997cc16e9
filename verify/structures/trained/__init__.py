"""Claims about trained lookup networks and sketches, and measurements of these models.

lookups           accuracies of networks after each lookup, with intervals, and decision trees of
                  networks
lookups_picture   accuracies after each lookup, in a panel
planted           strategies that replace networks in the self-test
"""
