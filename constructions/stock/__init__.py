"""Our models in classes of other libraries: `nn.TransformerEncoder`, GPT-2, TransformerLens."""

from constructions.stock.encoder import StockEncoder, to_encoder
from constructions.stock.gadgets import Gadgets
from constructions.stock.gpt2 import StockGPT2, to_gpt2
from constructions.stock.lens import labels, to_lens

__all__ = ["Gadgets", "StockEncoder", "StockGPT2", "labels", "to_encoder", "to_gpt2", "to_lens"]
