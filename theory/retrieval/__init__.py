"""Retrieval in context: the tasks of induction heads, k-hop and composition, and their theorems.

Tokens are integer arrays (…, T) with entries ≥ 0, positions count from 0, and the answer −1 stands
for ⊥ (no answer). Every task has a batched implementation, and a function `…_by_definition` that
evaluates the formula for one sequence.

    induction          the token after an earlier occurrence of the current token
    hop                the induction task, iterated k times
    ngram              counts of the tokens that followed the current context; the Bayes predictor
    nearest_neighbour  nearest neighbours, and the kernel smoother that tends to them
    composition        g(f(x)) for tables in the prompt
    attention_patterns single heads: previous token, average so far, skip-gram
    facts              facts and questions in English
    depth              numbers of layers and sizes that suffice or are necessary
    communication      induction and composition as communication games of two players
    collisions         searches for two inputs with equal messages

Test sequences (random, Markov, adversarial, all) are those of `theory.sequences`.

`composition`, `hop`, `nearest_neighbour`, `previous_token` and `skip_gram` are algorithms here and
models in `constructions.retrieval`. Import at least one of the two packages as a module
(`from theory import retrieval`): after two star imports, such a name would refer only to the later
import.
"""

from theory.retrieval.attention_patterns import (
    previous_token,
    previous_token_by_definition,
    skip_gram,
    skip_gram_by_definition,
    token_frequencies,
    token_frequencies_by_definition,
)
from theory.retrieval.composition import composition, composition_by_definition, composition_prompt
from theory.retrieval.depth import (
    CompositionBound,
    composition_bound,
    doubling_layers,
    hop_layers,
    one_layer_bound,
)
from theory.retrieval.facts import DEFAULT, Fact, Lexicon, answer, follow, read, words
from theory.retrieval.hop import hop, hop_by_definition, hop_positions, hop_positions_by_definition
from theory.retrieval.induction import (
    Match,
    NoMatch,
    find,
    find_by_definition,
    induction,
    induction_by_definition,
)
from theory.retrieval.nearest_neighbour import (
    kernel_smoother,
    kernel_smoother_by_definition,
    nearest_neighbour,
    nearest_neighbour_by_definition,
)
from theory.retrieval.ngram import (
    dirichlet_predictor_by_definition,
    ngram,
    ngram_by_definition,
    ngram_counts,
    ngram_counts_by_definition,
)
from theory.sequences import (
    adversarial_sequences,
    all_sequences,
    markov_sequences,
    random_sequences,
)

__all__ = [
    "DEFAULT",
    "CompositionBound",
    "Fact",
    "Lexicon",
    "Match",
    "NoMatch",
    "adversarial_sequences",
    "all_sequences",
    "answer",
    "composition",
    "composition_bound",
    "composition_by_definition",
    "composition_prompt",
    "dirichlet_predictor_by_definition",
    "doubling_layers",
    "find",
    "find_by_definition",
    "follow",
    "hop",
    "hop_by_definition",
    "hop_layers",
    "hop_positions",
    "hop_positions_by_definition",
    "induction",
    "induction_by_definition",
    "kernel_smoother",
    "kernel_smoother_by_definition",
    "markov_sequences",
    "nearest_neighbour",
    "nearest_neighbour_by_definition",
    "ngram",
    "ngram_by_definition",
    "ngram_counts",
    "ngram_counts_by_definition",
    "one_layer_bound",
    "previous_token",
    "previous_token_by_definition",
    "random_sequences",
    "read",
    "skip_gram",
    "skip_gram_by_definition",
    "token_frequencies",
    "token_frequencies_by_definition",
    "words",
]
