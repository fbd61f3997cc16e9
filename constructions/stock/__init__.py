"""Our models inside unmodified stock classes: torch's `nn.TransformerEncoder`, and GPT-2."""

from constructions.stock.encoder import StockEncoder, to_encoder
from constructions.stock.gadgets import Gadgets
from constructions.stock.gpt2 import StockGPT2, to_gpt2

__all__ = ["Gadgets", "StockEncoder", "StockGPT2", "to_encoder", "to_gpt2"]
