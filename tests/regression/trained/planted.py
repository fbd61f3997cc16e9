"""Models whose answers are known, in place of trained ones."""

from functools import lru_cache
from zlib import crc32

import numpy as np
import torch

from constructions.trained.tasks.regression import Regression
from theory.regression import Prompts, gaussian_prompts, online_gradient_descent_iterates
from verify.evidence.checkpoints import Trained
from verify.interpret import Algorithms

TASK = Regression(3, 7)


class Planted:
    """Layer i answers by the i-th rule, and the model by `own`, the last unless given.

    Beside its answer a layer's stream may have other coordinates, if its rule gives them.
    """

    def __init__(self, *rules, task=TASK, own=None):
        self.rules, self.task, self.n_layers = rules, task, len(rules)
        self.own = own or rules[-1]

    def representations(self, x, y, x_query):
        algorithms = algorithms_on(x, y, x_query)
        yield torch.zeros((*algorithms.labels.shape, 1))
        for rule in self.rules:
            said = rule(algorithms)
            yield torch.from_numpy(said if said.ndim == 3 else said[..., None])

    def __call__(self, x, y, x_query):
        said = self.own(algorithms_on(x, y, x_query))
        return torch.from_numpy(said if said.ndim == 2 else said[..., 0])

    def named(self, name="a"):
        return Trained(name, self, self.task)


def algorithms_on(*examples):
    """The algorithms on examples x, y and queries; the same prompts come again with every model."""
    shapes = tuple(part.shape for part in examples)
    return _algorithms(shapes, *(np.ascontiguousarray(part).tobytes() for part in examples))


@lru_cache(maxsize=1000)
def _algorithms(shapes, *parts):
    arrays = (np.frombuffer(part).reshape(s) for part, s in zip(parts, shapes, strict=True))
    x, y, x_query = arrays
    return Algorithms(Prompts(x, y, x_query, np.zeros(len(x)), x_query))


def newton(k, start="gram"):
    return lambda a: a.newton([k], start)[0]


def descent(k, factor=1.9):
    return lambda a: a.gradient_descent([k], factor)[0]


def ridge(penalty):
    return lambda a: a.spectrum.ridge([penalty])[0]


def silent(a):
    return np.zeros(a.labels.shape)


@lru_cache(maxsize=1000)
def online(a):
    """With the step size that is best for some prompts, so that no label decides it."""
    p = a.prompts
    iterates = online_gradient_descent_iterates(p.x, p.y, best_step_size(p.x.shape[-1]))
    return np.vecdot(np.stack([*iterates], axis=-2), following(a))


def following(a):
    """The inputs whose labels are predicted: each example, and the query."""
    return np.concatenate([a.prompts.x, a.prompts.x_query[:, None]], axis=1)


@lru_cache
def best_step_size(d):
    return Algorithms(gaussian_prompts(500, 2 * d, d, seed=0)).online_gradient_descent()[1]


def least_squares(a):
    return a.least_squares()


def noise_of(a):
    """A generator for noise that is the same whenever the same prompts are given."""
    return np.random.default_rng(crc32(a.prompts.x.tobytes()))


def with_noise(rule, coordinates):
    """Further coordinates that have nothing to do with the labels."""

    def both(a):
        said = rule(a)
        noise = noise_of(a).standard_normal((*said.shape, coordinates))
        return np.concatenate([said[..., None], noise], -1)

    return both


def mixed(rule, other, share):
    """Whose errors are those of the first, and `share` of what the second errs more."""
    return lambda a: rule(a) + share * (other(a) - rule(a))


def bent(rule):
    """A rule that is not linear in the query: |prediction| is added."""
    return lambda a: rule(a) + np.abs(rule(a))
