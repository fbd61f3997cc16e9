"""Torch modules from elsewhere whose layers are known: block i is a step of gradient descent."""

import torch
from torch import nn


class Step(nn.Module):
    """A gradient step on the least-squares problem of each prefix.

    The stream has the weights of each prefix and, last, their prediction at the next example.
    """

    def __init__(self, step_size):
        super().__init__()
        self.step_size = nn.Parameter(torch.tensor(step_size))

    def forward(self, H, S, b, rows):
        w = H[..., :-1]
        w = w + self.step_size * (b - (S @ w[..., None])[..., 0])
        return torch.cat([w, (w * rows).sum(-1, keepdim=True)], -1)


class Descent(nn.Module):
    """Steps of gradient descent with given step sizes, as a module of (x, y, x_query)."""

    def __init__(self, step_sizes, dropout=0.0):
        super().__init__()
        self.blocks = nn.ModuleList(map(Step, step_sizes))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, y, x_query):
        rows = torch.cat([x, x_query[:, None]], 1)
        outer = x[..., :, None] * x[..., None, :]
        S = nn.functional.pad(outer.cumsum(1), (0, 0, 0, 0, 1, 0))
        b = nn.functional.pad((y[..., None] * x).cumsum(1), (0, 0, 1, 0))
        H = torch.zeros_like(rows[..., :1]).expand(*rows.shape[:-1], rows.shape[-1] + 1)
        for block in self.blocks:
            H = self.dropout(block(H, S, b, rows))
        return H[..., -1]


class Alternating(Descent):
    """The same module with the tokens x_1, y_1, x_2, y_2, …, x_query: its last block has 2n + 1."""

    def __init__(self, step_sizes):
        super().__init__(step_sizes)
        self.spread = Spread()

    def forward(self, x, y, x_query):
        return self.spread(super().forward(x, y, x_query))[0][:, ::2, 0]


class Spread(nn.Module):
    """Predictions at every second token, and 0 at the others; returns a tuple, as some blocks."""

    def forward(self, predictions):
        at_labels = torch.zeros_like(predictions)
        both = torch.stack([predictions, at_labels], -1).flatten(-2)[:, :-1]
        return both[..., None], "further"
