"""Tables for stock; `public.py` documents them."""

import torch

from constructions import previous_token
from constructions.stock import Gadgets, to_encoder

EXAMPLES = {
    "Model": lambda: previous_token(2, 3),
    "Transformer": lambda: previous_token(2, 3),
    "Gadgets": lambda: Gadgets(1, 0.5, 2, 1.0, 1.0),
    "Plan": lambda: to_encoder(previous_token(2, 3)).plan,
    "dtype": lambda: torch.float64,
}
