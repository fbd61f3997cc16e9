"""What a model over tokens says when its logits are taken as probabilities: samples and scores."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from constructions.interface import Model
from constructions.tokens import Tokens
from constructions.transformer import Decoder
from theory import kinds
from theory.kinds import Count, InputError, Seed, Steps, checked
from theory.language.documents import digits

AT_ONCE, MOST = 2**13, 2**27  # strings without their last letter, run at once; strings at most


@checked
def sample(model: Model, tokens: kinds.Tokens, steps: Steps, seed: Seed) -> Tensor:
    """`steps` tokens (…, steps) that go on from `tokens` (…, T), each drawn from the softmax of the
    model's logits at the end of all before it.

    Raises ValueError for a model that has no logits of tokens to go on with, and as the model does.
    """
    _speaks(model)
    rng, sequence = np.random.default_rng(seed), torch.as_tensor(tokens)
    given = sequence.shape[-1]
    for _ in range(steps):
        said = model.logits(sequence)[..., -1, :].double()
        limits = said.softmax(-1).cumsum(-1)
        # The last limit is then above every draw.
        limits[..., -1] = 1.0
        draws = torch.as_tensor(rng.random((*limits.shape[:-1], 1)), device=limits.device)
        following = (limits <= draws).sum(-1, keepdim=True).to(sequence)
        sequence = torch.cat([sequence, following], dim=-1)
    return sequence[..., given:]


@checked
def log_probabilities(model: Model, tokens: kinds.Tokens) -> Tensor:
    """ln of the softmax of the model's logits at each token (…, T) but the first, given those
    before it: (…, T − 1) float64.

    Raises ValueError for sequences of one token, for a model as `sample`, and as the model does.
    """
    _speaks(model)
    sequence = torch.as_tensor(tokens)
    if sequence.shape[-1] < 2:
        raise InputError("tokens have length 1: nothing is predicted; give at least two")
    said = model.logits(sequence[..., :-1]).double().log_softmax(-1)
    following = sequence[..., 1:].to(said.device)
    if int(following.max()) >= said.shape[-1]:
        raise InputError(
            f"token {int(following.max())} is never predicted: the model has {said.shape[-1]} "
            "answers"
        )
    return said.gather(-1, following[..., None])[..., 0]


@checked
@torch.no_grad()
def string_probabilities(model: Model, length: Count) -> Tensor:
    """The probabilities of all V^L strings of `length` L symbols after BOS, the last token of the
    vocabulary, in lexicographic order (V^L,), float64.

    Prefixes are shared: where the model holds keys and values, the V^{L−2} strings of L − 2 symbols
    are run once each, and then the V^{L−1} symbols that come next.

    Raises ValueError for a model whose answers are not the symbols before BOS, for more than 2^27
    strings, for strings that are too long for the model, and as `sample`.
    """
    _speaks(model)
    V, L = model.interface.n_answers, length
    if model.interface.vocabulary_size != V + 1:
        raise InputError(
            f"{model.name} has {V} answers and {model.interface.vocabulary_size} tokens: give a "
            "model whose one token more is BOS"
        )
    if L > 27 or V**L > MOST:
        raise InputError(f"there are {V}^{L} strings: give at most 2^27 of them")
    model.prompt([[V, *[0] * (L - 1)]])  # which a model for shorter strings refuses
    if L == 1:
        return model.logits(torch.tensor([[V]]))[0, 0].double().softmax(-1).cpu()
    shares, count = [], max(1, AT_ONCE // V)
    for first in range(0, V ** (L - 2), count):
        names = np.arange(first, min(first + count, V ** (L - 2)))
        letters = torch.from_numpy(digits(names, V, L - 2)).to(model.like.device)
        begun = torch.cat([letters.new_full((len(letters), 1), V), letters], dim=1)
        said = model.logits(begun).double().log_softmax(-1)
        before = said[:, :-1].gather(-1, letters[..., None])[..., 0].sum(-1)
        last = _after_each_letter(model, begun, V).double().log_softmax(-1)
        chances = before[:, None, None] + said[:, -1, :, None] + last
        shares.append(chances.exp().flatten().cpu())
    return torch.cat(shares)


def _after_each_letter(model: Model, begun: Tensor, V: int) -> Tensor:
    """The logits after each of the V symbols that may follow sequences (P, T), (P, V, V)."""
    P, T = begun.shape
    letters = torch.arange(V, device=begun.device).expand(P, V)[..., None]
    decoder = model.decoder((P,), T + 1)
    if not isinstance(decoder, Decoder):
        longer = torch.cat([begun[:, None].expand(P, V, T), letters], dim=-1)
        return model.logits(longer)[..., -1, :]
    decoder(begun)
    return decoder.branched(V)(letters)[..., 0, :]


def _speaks(model: Model) -> None:
    """Raise ValueError unless logits are those of tokens, and each sees only those before it."""
    interface = model.interface
    goes_on = isinstance(interface, Tokens) and interface.length is None
    if not goes_on or interface.bottom or interface.frequencies:
        raise InputError(
            f"{model.name} has no logits of the next token: give a model that has, such as "
            "string_model"
        )
    if interface.n_answers > interface.vocabulary_size:
        raise InputError(
            f"{model.name} has {interface.n_answers} answers and {interface.vocabulary_size} "
            "tokens: its answers are no tokens to go on with"
        )
