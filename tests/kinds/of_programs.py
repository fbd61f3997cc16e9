"""Tables for programs; `public.py` documents them."""

from constructions.programs import chomsky_scratchpad
from theory.programs import Select, indices, tokens
from theory.programs.library import reverse

ANY = "expressions are checked one by one, as they are made or read"
WITHOUT = dict.fromkeys(
    (
        *("theory.programs.Aggregate", "theory.programs.Expression", "theory.programs.Full"),
        "theory.programs.LinearSequenceMap",
        *("theory.programs.Map", "theory.programs.Pair", "theory.programs.Select"),
        *("theory.programs.SelectorAnd", "theory.programs.SelectorNot"),
        *("theory.programs.SelectorOr", "theory.programs.SelectorWidth"),
        *("theory.programs.SequenceMap", "theory.programs.program_of"),
        "theory.programs.evaluate:program",
        "constructions.programs.compiled:program",
    ),
    ANY,
) | dict.fromkeys(
    (
        *("theory.programs.evaluate:sequence", "theory.programs.trace:sequence"),
        "constructions.programs.compiled:vocabulary",
    ),
    "tokens are any values that are hashable",
)
WITHOUT["constructions.programs.decoded_answers:inputs"] = (
    "the limits are those of the model's task"
)

EXAMPLES = {
    "Expression": reverse,
    "Selector": lambda: Select(indices, indices, "=="),
    "SOp": lambda: tokens,
}
ARGUMENTS = {
    "theory.programs.evaluate": {"sequence": "ab"},
    "theory.programs.trace": {"sequence": "ab"},
    "constructions.programs.chomsky_scratchpad": {"name": "compute sqrt", "max_length": 5},
    "constructions.programs.chomsky_task": {"name": "parity check", "max_length": 5},
    "constructions.programs.decoded_answers": {
        "model": chomsky_scratchpad("compute sqrt", 4),
        "inputs": [[1, 0]],
    },
    "constructions.programs.compiled": {"program": reverse(), "vocabulary": "ab"},
}
