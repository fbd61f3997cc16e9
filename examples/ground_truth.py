"""What methods of interpretability find in transformers whose circuit is known.

The weights of two induction heads were written by hand, so the circuit of every output is known.
Activation patching (from other prompts, in both directions, with means, with zeros), attribution
patching, the logit lens and linear probes are applied to the same sequences. The script prints the
part of the circuit that each method finds, and saves a picture of one sequence:
`python examples/ground_truth.py [PICTURE]`.

A node is the content of a register at a token before a layer. The weights define two ground truths:

    used     the output depends on the node along the attention of this sequence, through the
             registers that heads read and write

    decides  replacing the content by that of some other token changes the output (all are tried)
"""

from collections.abc import Callable

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from constructions import Transformer, induction_heads
from theory.sequences import random_sequences
from verify.output.files import picture_argument, saving

target = picture_argument(__doc__, "ground_truth.png")

V, N, SEQUENCES, PARTNERS, SHARPNESS = 6, 12, 100, 5, 8.0
Found = dict[tuple[int, str], np.ndarray]  # (sequences, N), by layer (from 0) and register


class Circuit:
    """A model, with streams and answers of sequences that have one, and of their partners."""

    def __init__(self, model: Transformer) -> None:
        self.model, self.soft = model, model.sharpened(SHARPNESS)
        pool = random_sequences(4000, N, V, seed=0)
        outputs = model(pool)[:, -1].numpy()
        self.tokens = pool[outputs >= 0][:SEQUENCES]
        self.answers = outputs[outputs >= 0][:SEQUENCES]
        others = [np.flatnonzero((outputs >= 0) & (outputs != each)) for each in self.answers]
        chosen = [each[i * PARTNERS :][:PARTNERS] for i, each in enumerate(others)]
        self.partners, self.their_answers = pool[chosen], outputs[chosen]
        self.clean = self.before(self.tokens)
        self.others = self.before(self.partners)
        self.pool, self.outputs = pool[outputs >= 0], outputs[outputs >= 0]
        # What each register holds at the end of a sequence of one token alone: its value for it.
        alone = self.before(np.repeat(np.arange(V)[:, None], N, axis=1))
        self.values = {
            (layer, name): H[:, -1, model.stream[name]]
            for layer, H in enumerate(alone)
            for name in model.stream
            if len(H[:, -1, model.stream[name]].unique(dim=0)) == V
        }

    def before(self, tokens: np.ndarray) -> list[Tensor]:
        """The stream (…, 1 + N, D) before each layer; a token BOS stands in front."""
        return [*self.model.streams(tokens)][:-1]

    def after(self, H: Tensor, layer: int, model: Transformer | None = None) -> Tensor:
        """The logits at the last token, (…, V + 1), if this is the stream before a layer."""
        for block in (model or self.model).blocks[layer:]:
            H = block(H, 0)
        return self.model.unembedding(H[..., -1, :])

    def patched(self, named: Callable[[np.ndarray, Tensor], np.ndarray], kind: str) -> Found:
        """For every node and token `named` of the answers after patching of this `kind`."""
        found = {}
        for (layer, register), values in self.values.items():
            span, here = self.model.stream[register], []
            for t in range(1, N + 1):
                H, into = self.clean[layer], self.others[layer]
                copies = V if kind == "values" else PARTNERS if kind in ("from", "into") else 1
                start = into if kind == "into" else H[:, None].expand(-1, copies, -1, -1)
                put = {
                    "values": values.expand(len(H), -1, -1),
                    "from": into[:, :, t, span],
                    "into": H[:, None, t, span].expand(-1, PARTNERS, -1),
                    "mean": H[:, t, span].mean(0).expand(len(H), 1, -1),
                    "zero": torch.zeros(len(H), 1, values.shape[-1]).to(H),
                }[kind]
                start = start.clone()
                start[:, :, t, span] = put
                outputs = self.after(start, layer).argmax(-1).numpy()
                here.append(named(outputs == self.answers[:, None]).any(1))
            found[layer, register] = np.stack(here, axis=1)
        return found

    def attributed(self) -> Found:
        """Whether, to first order, a partner's value moves the logits half the way to the partner's
        answer, with the same weights and softmax."""
        found = {}
        rows = np.arange(SEQUENCES)[:, None], np.arange(PARTNERS)

        def ahead(logits: Tensor) -> Tensor:
            return (
                logits[*rows, torch.from_numpy(self.answers)[:, None]]
                - logits[*rows, self.their_answers]
            )

        for layer, register in self.values:
            span, into = self.model.stream[register], self.others[layer]
            H = self.clean[layer][:, None].expand(-1, PARTNERS, -1, -1).clone().requires_grad_()
            lead = ahead(self.after(H, layer, self.soft))
            (slope,) = torch.autograd.grad(lead.sum(), H)
            change = (slope * (into - H.detach()))[..., 1:, span].sum(-1)
            whole = ahead(self.after(into, layer, self.soft)) - lead.detach()
            found[layer, register] = (change <= whole[..., None] / 2).any(1).numpy()
        return found

    def used(self) -> Found:
        """The nodes that the answer is read from."""
        model, found = self.model, {}

        def touched(W: Tensor) -> list[str]:
            return [r for r in model.stream if W[model.stream[r]].any()]

        wanted = {r: np.zeros((SEQUENCES, N + 1), dtype=bool) for r in model.stream}
        for register in touched(model.unembed.W_U):
            wanted[register][:, -1] = True
        for layer in reversed(range(model.n_layers)):
            attn = model.blocks[layer].attn
            (pattern,) = attn.pattern(self.clean[layer], 0).gt(0).numpy().transpose(1, 0, 2, 3)
            asks = np.any([wanted[r] for r in touched(attn.W_O[0].T)], axis=0)
            seen = (asks[:, :, None] & pattern).any(1)
            for W, where in (attn.W_Q, asks), (attn.W_K, seen), (attn.W_V, seen):
                for register in touched(W[0]):
                    wanted[register] = wanted[register] | where
            found |= {(layer, register): wanted[register][:, 1:] for register in model.stream}
        return {node: found[node] for node in self.values}


def together(found: Found) -> np.ndarray:
    return np.stack(list(found.values()))


def fraction(part: np.ndarray, whole: np.ndarray) -> str:
    return f"{(part & whole).sum() / max(1, whole.sum()):8.0%}"


def probe_accuracy(circuit: Circuit, at: int, layer: int, wanted: np.ndarray) -> float:
    """Held-out accuracy of a linear probe for `wanted` of the stream at a token."""
    H = circuit.before(circuit.pool)[layer][:, at].numpy()
    H, half = np.hstack([H, np.ones((len(H), 1))]), len(H) // 2
    W = np.linalg.lstsq(H[:half], np.eye(V)[wanted[:half]], rcond=None)[0]
    return float(np.mean((H[half:] @ W).argmax(1) == wanted[half:]))


print(
    f"""A node is the content of a register at a token before a layer; the answer is the output at
the last token.
  used         the answer depends on the node along the attention of this sequence
  decides      replacing the content by that of some other token changes the answer (all are tried)
A method names the nodes that matter according to it. A partner is another sequence with another
answer; every sequence has {PARTNERS}.
  partner's value into this   with the content from a partner, the answer changes
  this value into partner     with the content from here, the partner has this answer
  mean, zero                  with the mean over all sequences, or 0, the answer changes
  attribution                 by the gradient, with softmax at sharpness {SHARPNESS:g}, the content
                              from a partner moves the logits half the way to the partner's answer
  logit lens                  the unembedding, applied to the stream after each layer
  linear probe                least squares on the stream, tested on held-out sequences
Percentages of the lens and the probes are fractions of sequences with the right answer.
"""
)

shown: dict[str, Found] = {}
for match in ("latest", "mean"):
    circuit = Circuit(induction_heads(V, N, match))
    truths = {"used": circuit.used(), "decides": circuit.patched(np.logical_not, "values")}
    methods = {
        "partner's value into this": circuit.patched(np.logical_not, "from"),
        "this value into partner": circuit.patched(np.asarray, "into"),
        "mean": circuit.patched(np.logical_not, "mean"),
        "zero": circuit.patched(np.logical_not, "zero"),
        "attribution": circuit.attributed(),
    }
    shown = shown or truths | methods
    used, decides = map(together, truths.values())
    print(circuit.model)
    print(
        f"\n{SEQUENCES} sequences of {N} tokens, {len(circuit.values)} registers before layers: "
        f"{used.size} nodes, {used.sum()} used, {decides.sum()} decide, {(used & decides).sum()} "
        "both"
    )
    print(f"\n{'':28}{'found of those that':^20}{'of those named, are':>33}")
    print(f"{'':28}{'used':>8}{'decide':>9}{'named':>8}{'used':>9}{'decide':>9}{'neither':>9}")
    for name, found in methods.items():
        named, either = together(found), used | decides
        print(
            f"{name:28}{fraction(named, used)} {fraction(named, decides)}{named.sum():8}"
            f"{fraction(used, named)} {fraction(decides, named)} {fraction(~either, named)}"
        )
    layers = range(circuit.model.n_layers)
    lens = [
        float(np.mean(circuit.model.unembedding(H[:, -1]).argmax(-1).numpy() == circuit.outputs))
        for H in circuit.model.streams(circuit.pool)
    ]
    print("\nAt the last token, after 0, 1, 2 layers")
    print("  logit lens, the answer        ", "".join(f"{each:6.0%}" for each in lens))
    probes = [probe_accuracy(circuit, -1, layer, circuit.outputs) for layer in layers]
    print("  linear probe, the answer      ", "".join(f"{each:6.0%}" for each in probes))
    before = [probe_accuracy(circuit, -1, layer, circuit.pool[:, -2]) for layer in layers]
    print("  linear probe, the token before", "".join(f"{each:6.0%}" for each in before))
    (kept,) = [n for n in circuit.values if n[1].startswith("previous")]
    there = [truth[kept][:, -1].mean() for truth in truths.values()]
    print(f"  {kept[1]} there is used in {there[0]:.0%} of sequences, decides in {there[1]:.0%}\n")

print(
    """Patching from partners into a sequence names only nodes that decide, but misses content that
occurs twice. Patching into partners also names nodes that only the partner needs. Ablations name
nodes that are used, unless another node has the same effect. Sharp attention has nearly zero
gradients, so attribution misses scores. The logit lens finds the answer only after the last layer.
A probe decodes, at the last token, content that the answer mostly does not depend on."""
)

row = int(np.argmax(together(shown["used"]).any(0).sum(-1)))
circuit = Circuit(induction_heads(V, N))
figure = Figure(figsize=(11, 3), layout="constrained")
axes = figure.subplots(1, len(circuit.values), sharey=True)
for axis, node in zip(axes, circuit.values, strict=True):
    axis.imshow([found[node][row] for found in shown.values()], cmap="Greys", vmin=0, vmax=1.4)
    axis.set_title(f"{node[1]} before layer {node[0] + 1}", fontsize=10)
    axis.set_xticks(range(N), [str(token) for token in circuit.tokens[row]])
    axis.set_yticks(range(len(shown)), list(shown))
    axis.axhline(1.5, color="tab:red", linewidth=1)
    axis.set_xlabel("tokens")
figure.suptitle(
    f"Which nodes matter (grey) to the answer {circuit.answers[row]}: "
    "two ground truths (above the red line), and the nodes that five methods name (below)"
)
with saving(target) as file:
    figure.savefig(file, dpi=150)
print(f"\npicture: {target}")
