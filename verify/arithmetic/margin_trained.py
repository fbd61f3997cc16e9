"""The claim `margin-trained`: training with short neurons comes to the largest margin."""

from __future__ import annotations

NEAR = 0.99  # of γ*: at least, trained
SINGLE, MIXED = 0.99, 0.75  # the share of the largest frequency: at least trained, at most before
EVEN = 0.5  # of its even share, at least, and twice that at most: what each frequency has

DESIGN = """Trained with short neurons, quadratic networks add mod p at nearly the largest margin.

    48, 80 and 352 neurons, p = 7, 11 and 23, are trained on all pairs, with the entropy and λΣ‖θ‖³;
    three seeds each, each judged by itself.  All thresholds were written down before any was
    trained.

    bound        the normalised margin is at most γ*, which is proved: an excess would be a mistake.
    ratio        it is at least .99 γ*; before training it is below 0.
    single       neurons have one frequency each: the share of ‖θ‖² at its largest one, averaged
                 with the weights ‖θ‖³, is at least .99; before training at most .75.
    frequencies  each of the (p − 1)/2 has at least half and at most twice its even share of Σ‖θ‖³.
                 Random neurons have that, too, so it says something only beside `single`; networks
                 of few frequencies, which add as well, have it not.
    """
