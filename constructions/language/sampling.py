"""Samples and probabilities of strings from the softmax of a model's logits."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from constructions.interface import Model
from constructions.prefixes import AT_ONCE, PrefixOutputs, answers_at_every_prefix
from constructions.tokens import Tokens
from theory import kinds
from theory.kinds import Count, InputError, Seed, Steps, checked
from theory.language.documents import digits

MOST = 2**27  # strings


@checked
def sample(model: Model, tokens: kinds.Tokens, steps: Steps, seed: Seed) -> Tensor:
    """Random continuations (…, steps) of `tokens` (…, T), sampled autoregressively from a model.

    Each token is drawn from the softmax of the model's logits at the token before it.  Raises
    ValueError for a model whose logits are not those of the next token, and for tokens that the
    model rejects.
    """
    _check_autoregressive(model)
    rng, sequence = np.random.default_rng(seed), torch.as_tensor(tokens)
    given, longest = sequence.shape[-1], model.interface.max_length
    if given <= longest < given + steps - 1:
        raise InputError(
            f"{given} tokens and {steps} steps exceed max_length = {longest} of {model.name}: "
            f"give at most {longest - given + 1} steps"
        )
    for _ in range(steps):
        logits = model.logits(sequence)[..., -1, :].double()
        limits = logits.softmax(-1).cumsum(-1)
        # Rounding must not leave the last limit below a draw.
        limits[..., -1] = 1.0
        draws = torch.as_tensor(rng.random((*limits.shape[:-1], 1)), device=limits.device)
        following = (limits <= draws).sum(-1, keepdim=True).to(sequence)
        sequence = torch.cat([sequence, following], dim=-1)
    return sequence[..., given:]


@checked
def log_probabilities(model: Model, tokens: kinds.Tokens) -> Tensor:
    """The log-probabilities (…, T − 1) that a model gives to the tokens after the first.

    `tokens` has shape (…, T), and the probability of a token is conditional on the earlier tokens.
    Raises ValueError for sequences of one token, for a model whose logits are not those of the next
    token, and for tokens that the model rejects.
    """
    _check_autoregressive(model)
    sequence = torch.as_tensor(tokens)
    if sequence.shape[-1] < 2:
        raise InputError(
            "tokens have length 1: give at least two tokens, since the first token is not predicted"
        )
    found = model.logits(sequence[..., :-1]).double().log_softmax(-1)
    following = sequence[..., 1:].to(found.device)
    if following.numel() and int(following.max()) >= found.shape[-1]:
        raise InputError(
            f"tokens contain {int(following.max())} after the first token, and the model predicts "
            f"tokens below {found.shape[-1]}: after the first token, give tokens below "
            f"{found.shape[-1]}"
        )
    return found.gather(-1, following[..., None])[..., 0]


@checked
@torch.no_grad()
def string_probabilities(model: Model, length: Count) -> Tensor:
    """The probabilities (V^L,) that a model gives to all strings of L = `length` symbols.

    The vocabulary of the model consists of V symbols and BOS, its last token. Each string follows
    BOS. The strings are in lexicographic order, and the probabilities are in float64. A causal
    transformer computes the last symbol of each prefix once (`constructions.prefixes`); other
    models run on each of the V^{L−1} prefixes of L − 1 symbols.

    Raises ValueError if the logits of the model are not those of the next token, with one logit for
    each of the V symbols. Also raises ValueError for more than 2^27 strings, and for strings that
    are too long for the model.
    """
    _check_autoregressive(model)
    V, L = model.interface.n_answers, length
    if model.interface.vocabulary_size != V + 1:
        raise InputError(
            f"{model.name} predicts {V} of its {model.interface.vocabulary_size} tokens: give a "
            "model that predicts all tokens except the last token of the vocabulary"
        )
    if V > 1 and (L > 27 or V**L > MOST):
        raise InputError(f"there are {V}^{L} strings: give a length with at most 2^27 strings")
    of, found = [range(V, V + 1), *[range(V)] * (L - 1)], torch.zeros(1, dtype=torch.float64)
    if answers_at_every_prefix(model):
        for logits in PrefixOutputs(model, of).tables:
            found = (found[:, None] + logits.double().log_softmax(-1).cpu()).flatten()
        return found.exp_()
    parts = []
    for first in range(0, V ** (L - 1), AT_ONCE):
        names = np.arange(first, min(first + AT_ONCE, V ** (L - 1)))
        symbols = torch.from_numpy(digits(names, V, L - 1))
        logits = model.logits(torch.cat([symbols.new_full((len(symbols), 1), V), symbols], dim=1))
        each = logits.double().log_softmax(-1).cpu()
        before = each[:, :-1].gather(-1, symbols[..., None])[..., 0].sum(-1)
        parts.append((before[:, None] + each[:, -1]).exp_().flatten())
    return torch.cat(parts)


def _check_autoregressive(model: Model) -> None:
    """Raise ValueError unless logits are those of the next token, by causal attention."""
    interface = model.interface
    goes_on = isinstance(interface, Tokens) and interface.length is None
    if not goes_on or interface.bottom or interface.frequencies:
        raise InputError(
            f"{model.name} has no logits of the next token: give a model that outputs logits of "
            "the next token, such as string_model"
        )
    if interface.labels is not None:
        raise InputError(
            f"{model.name} has {interface.labels} answers that are not tokens: give a model whose "
            "answers are tokens"
        )
