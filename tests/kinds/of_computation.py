"""Tables for computation; `public.py` documents them."""

from constructions.computation.circuit_examples import contains_aa
from theory.computation import (
    MACHINES,
    S3,
    Set,
    Step,
    bounded_dyck,
    cascade,
    formula,
    list_ranking,
    regular_expression,
)
from theory.computation.threshold_circuits import Gate as ThresholdGate

WITHOUT = {"theory.computation.product": "it takes any number of automata"}

EXAMPLES = {
    "Semiautomaton": lambda: S3,
    "Cascade": lambda: cascade(bounded_dyck(2)),
    "Language": lambda: regular_expression("ab", "ab"),
    "Program": lambda: list_ranking(3),
    "TuringMachine": lambda: MACHINES["busy-beaver-2"],
}

ARGUMENTS = {
    "theory.computation.Circuit": {"gates": [(8, 0, 1)]},
    "theory.computation.Program": {
        "inputs": ("x",),
        "answer": "x",
        "steps": (Step(sets=(Set("x", "copy", (1,)),)),),
    },
    "theory.computation.Semiautomaton": {"transitions": S3.transitions},
    "theory.computation.ThresholdCircuit": {"gates": (ThresholdGate((0, 1), (1, 1), 2),)},
    "theory.computation.TuringMachine": {"rules": MACHINES["busy-beaver-2"].rules},
    "theory.computation.from_cascade": {"alphabet": "ab"},
    "theory.computation.formula": {"text": "a since b"},
    "theory.computation.language_of": {"formula": formula("a since b", "ab")},
    "theory.computation.machine_of": {"rules": {"A": ["1RA", None]}},
    "theory.computation.message_round": {"messages": {"x": "to"}, "words": ("y",)},
    "theory.computation.read_brackets": {"text": "()"},
    "theory.computation.regular_expression": {"text": "(ab)*"},
    "constructions.computation.from_formula": {"formula": "a since b"},
    "constructions.computation.to_circuit": {"model": contains_aa(3)},
}
