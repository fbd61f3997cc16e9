"""The claim `transplant`: what a small transformer learns with embeddings of another model."""

from __future__ import annotations

AHEAD = 0.2  # of the test pairs, by which rows of MiniLM are ahead of learned ones
PEAK, FEW = 2.0, 1  # times the median; periods of learned rows that may reach it
SIGNATURE = 0.9  # of the errors
ENOUGH = 30  # errors, below which nothing is said of them
WITHOUT_ORDER, EXACT, UNTRAINED = 0.2, 0.95, 0.02  # of the test pairs
LENS = 0.5  # of what the last layer has right, at most, after the first
CHEAP = 0.05  # of the test pairs, lost at most
DRAWS = 20  # random projections

DESIGN = """With number embeddings of a language model a small transformer adds digit by digit.

    Two layers of four heads, width 64 and 128 ReLUs, with W_U = W_Eᵀ, learn to add numbers below
    150 from four fifths of the pairs, and are tested on the others, in both orders.  Their rows for
    the numbers are those of all-MiniLM-L6-v2 on 64 principal axes, frozen, or learned; or, as
    controls, frozen ones: MiniLM's in random order, Gaussian, and exact cosines and sines.  Three
    seeds of each, each judged by itself.  All thresholds were written down before any was trained,
    with the figures of trials of twice the width (GELUs, 256 pairs more a step) known; the size was
    then settled by trials with other seeds, that are not among these.

    accuracy    with MiniLM's rows more than .2 more of the test pairs are right than with the best
                of the learned ones ([Zhou2024]: 100 % against 54 %, with those of GPT-2).
    peaks       in the logits over all test pairs periods 2, 2.5, 5 and 10 have more than twice the
                median of the bins from 29 on; with learned rows at most one of them has.
    learnt      each peak is larger than before training: untrained logits have the peaks of the
                rows, so that `peaks` alone would show nothing that was learned.
    even        at least .9 of the errors are even; with learned rows fewer.
    near        with learned rows at least .9 of the errors are within ±2; with MiniLM's fewer.
    controls    rows without order: at most .2 right, so that freezing is not what helps; exact
                cosines and sines: at least .95; no training: at most .02.
    lens        read after layer 1 at most half as many are right as after layer 2.
    parts       what heads add to the logits has a larger share from bin 29 on than what MLPs add
                ([Zhou2024]: heads high, MLPs low frequencies).
    low, high   a mask on what modules add to the logits: without the bins 1 … 28 of MLPs fewer are
                right than without those of heads; without the bins from 29 on of heads fewer than
                without those of MLPs ([Zhou2024], table).
    cheap       without the bins from 29 on of MLPs at most .05 fewer are right than with them
                ([Zhou2024]: 1.6 points).
    projection  filters of the stream as in [Zhou2024], h ↦ P h: the low one on MLPs costs more than
                every one of 20 random projections of as many dimensions; undecided where those
                leave less than .05 right, since then there is nothing to compare.
    """
