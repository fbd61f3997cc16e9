"""All shapes of trainable models, by their kind.

The method `build` of a shape returns a model with random weights; trained parameters have
`requires_grad`.
"""

from __future__ import annotations

from typing import get_args

from constructions.trained.disentangled import DisentangledShape
from constructions.trained.feedforward import CNNShape, MLPShape
from constructions.trained.lookup import LookupShape
from constructions.trained.lstm import LSTMShape
from constructions.trained.quadratic import QuadraticShape
from constructions.trained.sketch import SketchShape
from constructions.trained.transformers import TiedShape, TransformerShape

Shape = (
    TransformerShape
    | TiedShape
    | LSTMShape
    | DisentangledShape
    | MLPShape
    | CNNShape
    | QuadraticShape
    | LookupShape
    | SketchShape
)
KINDS: tuple[type[Shape], ...] = get_args(Shape)
SHAPES: dict[str, type[Shape]] = {shape.kind: shape for shape in KINDS}
