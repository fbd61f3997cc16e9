"""The self-test: faults are planted in copies of the constructions, and claims must notice.

A certificate that cannot fail is worth nothing.  Each fault maps a hand-built transformer to a copy
in which the first head of its last attention layer is wrong.  A model without attention is returned
as it is, so the self-test would report it as missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from verify.claim import Claim, Run
from verify.finding import Verdict

if TYPE_CHECKING:
    from constructions.attention import Attention
    from constructions.transformer import Transformer


def _in_last_attention(change: Callable[[Attention], None]) -> Callable[[Any], Any]:
    def plant(model: Transformer) -> Transformer:
        faulty = deepcopy(model)
        layers = [block.attn for block in faulty.blocks if block.attn is not None]
        if layers:
            change(layers[-1])
        return faulty

    return plant


def _negate(attn: Attention) -> None:
    attn.W_O[0] *= -1


def _double(attn: Attention) -> None:
    attn.W_O[0] *= 2


def _shift(attn: Attention) -> None:
    attn.W_V[0] = attn.W_V[0].roll(1, dims=0)


FAULTS: dict[str, Callable[[Any], Any]] = {
    "wrong sign": _in_last_attention(_negate),
    "wrong power of two": _in_last_attention(_double),
    "swapped register": _in_last_attention(_shift),
}


def missed_faults(claim: Claim, seed: int) -> Iterator[tuple[str, list[str]]]:
    """For each set of options that a claim is to be tested with: the faults that it misses."""
    for chosen in claim.faults_seen:
        options = {**claim.defaults, **chosen}
        healthy = claim.verdict(Run(seed=seed, quick=True), **options)
        missed = [] if healthy is Verdict.HOLDS else [f"it {healthy} without a fault"]
        for name, fault in FAULTS.items():
            run = Run(seed=seed, quick=True, fault=fault)
            if claim.verdict(run, **options) is not Verdict.FAILS:
                missed.append(f"missed: {name}")
        yield " ".join(f"{key}={value}" for key, value in chosen.items()), missed
