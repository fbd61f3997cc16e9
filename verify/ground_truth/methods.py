"""Methods of attribution, by their published definitions: one function a method.

A method takes a `Hooked` model.  A method of edges returns a score for each link, a mean over the
pairs of prompts; links without a score have the score 0.  A method of nodes returns scores (m, T)
of the output of each node at each token of each of m prompts.  A larger absolute value means more
important.  A method of your own is a function of one of these kinds:

    from verify.ground_truth import benchmark

    benchmark({"mine": my_method})

Notation: `of` is the Hooked model, Δ the change of a source's output from the clean to another
prompt, and g the gradient of the metric by the stream that a port sees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor

from constructions.circuits import Node
from constructions.circuits.edges import Port
from verify.ground_truth.hooked import Hooked, Link

Scores = Mapping[Link, float]
TokenScores = Mapping[Node, Tensor]
Method = Callable[[Hooked], Scores | TokenScores]
STEPS = 5  # of the interpolation of integrated gradients


def path_patching(of: Hooked) -> Scores:
    """The fall of the metric if one link transmits the corrupted output [GoldowskyDill2023].

    Everything after the target is computed from the target's new output; all else is clean.
    """
    return _patched(of, _differences(of))


def resample_ablation(of: Hooked) -> Scores:
    """The fall of the metric if one link transmits the output on another clean prompt."""
    clean = of.outputs(of.clean)
    return _patched(of, {node: out.roll(1, 0) - out for node, out in clean.items()})


def mean_ablation(of: Hooked) -> Scores:
    """The fall of the metric if one link transmits the mean output over prompts, at each token."""
    clean = of.outputs(of.clean)
    return _patched(of, {node: out.mean(0) - out for node, out in clean.items()})


def zero_ablation(of: Hooked) -> Scores:
    """The fall of the metric if one link transmits 0."""
    return _patched(of, {node: -out for node, out in of.outputs(of.clean).items()})


def attribution_patching(of: Hooked) -> Scores:
    """−⟨Δ, g⟩ at the clean prompt: path patching to first order [Syed2023]."""
    return _first_order(of, of.gradients(of.clean))


def integrated_gradients(of: Hooked) -> Scores:
    """−⟨Δ, mean g⟩, where embeddings move from corrupted to clean in `STEPS` steps [Hanna2024]."""
    clean, corrupted = of.outputs(of.clean), of.outputs(of.corrupted)
    (embed,) = (node for node in of.sources if node.kind == "embed")
    found = []
    for step in range(1, STEPS + 1):
        change = (1 - step / STEPS) * (corrupted[embed] - clean[embed])
        found.append(of.gradients(of.clean, of.changed_output(embed, change)))
    slopes = {port: torch.stack([each[port] for each in found]).mean(0) for port in found[0]}
    return _first_order(of, slopes)


def direct_logit_attribution(of: Hooked) -> Scores:
    """The part of the metric that a source's output adds by the unembedding alone [Elhage2021]."""
    (target,) = (node for node in of.nodes if node.kind == "unembed")
    slope = of.gradients(of.clean)[target, "logits"]  # the metric is linear in the last stream
    return {
        Link(node, target, "logits"): float((out * slope).sum((1, 2)).mean())
        for node, out in of.outputs(of.clean).items()
    }


def activation_patching(of: Hooked) -> TokenScores:
    """The fall of the metric if one output of a node is the corrupted one [Heimersheim2024]."""
    with torch.no_grad():
        clean, T = of.metric(of.clean), of.clean.shape[1]
        changes = _differences(of)
        hooks = [
            of.changed_output(node, at_token(change, t))
            for node, change in changes.items()
            for t in range(T)
        ]
        falls = clean - of.metrics(of.clean, hooks)
        return {node: part.T for node, part in zip(changes, falls.split(T), strict=True)}


def node_attribution(of: Hooked) -> TokenScores:
    """−⟨Δ, g⟩ for the output of each node at each token: activation patching to first order."""
    slopes = of.gradients(of.clean)
    found = {}
    for node, change in _differences(of).items():
        later = [g for (target, _), g in slopes.items() if node.depth < target.depth]
        found[node] = -(change * sum(later)).sum(-1)
    return found


def probes(of: Hooked) -> TokenScores:
    """Held-out accuracy of a linear probe of a node's output at a token [Alain2016].

    A probe is the affine least-squares map from the output to the one-hot answer at the last token
    with a metric. It is fitted to the first half of the prompts and tested on the others.
    """
    rows, columns = _places(of)
    return _probed(of, of.weights[rows, columns].argmax(-1).numpy())


def probes_with_controls(of: Hooked) -> TokenScores:
    """The accuracy of a probe less its accuracy for a control task [Hewitt2019].

    The control task assigns a random answer to each token of the vocabulary, with the frequencies
    of the answers; its label is that of the last token with a metric.
    """
    rows, columns = _places(of)
    answers = of.weights[rows, columns].argmax(-1).numpy()
    drawn = np.random.default_rng(0).choice(answers, size=of.bridge.cfg.d_vocab)
    control = _probed(of, drawn[of.clean[rows, columns].numpy()])
    return {node: found - control[node] for node, found in _probed(of, answers).items()}


METHODS: dict[str, Method] = {
    "path patching": path_patching,
    "resample ablation": resample_ablation,
    "mean ablation": mean_ablation,
    "zero ablation": zero_ablation,
    "attribution patching": attribution_patching,
    "EAP, integrated gradients": integrated_gradients,
    "direct logit attribution": direct_logit_attribution,
    "activation patching": activation_patching,
    "attribution patching of nodes": node_attribution,
    "linear probes": probes,
    "linear probes with controls": probes_with_controls,
}


def _differences(of: Hooked) -> dict[Node, Tensor]:
    clean, corrupted = of.outputs(of.clean), of.outputs(of.corrupted)
    return {node: corrupted[node] - out for node, out in clean.items()}


def _patched(of: Hooked, changes: Mapping[Node, Tensor]) -> dict[Link, float]:
    """The fall of the metric if the stream of one link's port changes by its source's change."""
    with torch.no_grad():
        hooks = [
            of.changed_input(link.target, link.port, changes[link.source]) for link in of.links
        ]
        falls = (of.metric(of.clean) - of.metrics(of.clean, hooks)).mean(1)
        return dict(zip(of.links, falls.tolist(), strict=True))


def _first_order(of: Hooked, slopes: Mapping[tuple[Node, Port], Tensor]) -> dict[Link, float]:
    changes = _differences(of)
    return {
        link: -float((changes[link.source] * slopes[link.target, link.port]).sum((1, 2)).mean())
        for link in of.links
    }


def _places(of: Hooked) -> tuple[Tensor, Tensor]:
    """The last token with a metric of each prompt."""
    asked = (of.weights != 0).any(-1)
    last = asked.shape[1] - 1 - asked.flip(1).int().argmax(1)
    return torch.arange(len(last)), last


def at_token(change: Tensor, token: int) -> Tensor:
    """The change (m, T, D) at one token, and 0 at the others."""
    only = torch.zeros_like(change)
    only[:, token] = change[:, token]
    return only


def _probed(of: Hooked, wanted: np.ndarray) -> dict[Node, Tensor]:
    """The held-out accuracy of a probe of each node at each token for labels (m,), as (m, T)."""
    found = {}
    for node, output in of.outputs(of.clean).items():
        accuracies = [_accuracy(output[:, t].numpy(), wanted) for t in range(output.shape[1])]
        found[node] = torch.tensor(accuracies, dtype=torch.float64).expand(len(output), -1)
    return found


def _accuracy(X: np.ndarray, wanted: np.ndarray) -> float:
    """The accuracy on the second half of the rows of X (m, D)."""
    half = len(X) // 2
    H = np.hstack([X, np.ones((len(X), 1))])
    one_hot = np.eye(wanted.max() + 1)[wanted]
    W = np.linalg.lstsq(H[:half], one_hot[:half], rcond=None)[0]
    return float(np.mean((H[half:] @ W).argmax(1) == wanted[half:]))
