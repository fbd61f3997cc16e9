"""The programs that decode answers after a working, by the names of the tasks."""

from theory.programs.chomsky.multiplication_program import MULTIPLICATION
from theory.programs.chomsky.product_program import BRACKETED_PRODUCTS
from theory.programs.chomsky.scratchpads import Scratchpad
from theory.programs.chomsky.square_root_program import SQUARE_ROOT

SCRATCHPADS: dict[str, Scratchpad] = {
    "binary multiplication": MULTIPLICATION,
    "compute sqrt": SQUARE_ROOT,
    "modular arithmetic, brackets and products": BRACKETED_PRODUCTS,
}
