"""A busy beaver run by a transformer that was written by hand: 107 steps, one token each.

Prints the model in words, the tape after the first and the last steps that it decodes, and its size
for other machines, and saves the space-time diagram: `python examples/busy_beaver.py [PICTURE]`.
"""

from constructions import turing_machine
from theory.computation import MACHINES
from verify.computation.turing_picture import draw
from verify.evidence.picture import save
from verify.output.files import picture_argument, saving

target = picture_argument(__doc__, "busy_beaver.png")

beaver = MACHINES["busy-beaver-4"]
model = turing_machine(beaver, max_length=120)
history = model.interface

print(model)
print(f"  tokens  {history.vocabulary_size}: a state, a written symbol, a move\n")

tokens = model.generate(history.prompt(), 120)
steps = history.steps(tokens)
assert steps == beaver.run(120)  # by the machine's own rules

tape, heads, states, _ = beaver.space_time(steps)
print("The tape, step by step (the head in brackets):")
for made in (*range(6), *range(len(steps) - 3, len(steps) + 1)):
    if made == len(steps) - 3:
        print("   …")
    cells = [f" {symbol} " for symbol in tape[made]]
    at = heads[made] - min(heads) + 1
    cells[at] = f"[{tape[made][at]}]"
    print(f"{made:4}  {''.join(cells)}  state {beaver.names[states[made]]}")

ones = int(tape[-1].sum())
print(
    f"\n{len(steps)} tokens, then ⊥: it halts with {ones} ones on the tape.  No machine of 4 states"
)
print("and 2 symbols halts on a blank tape later, or with more of them [Brady1983].")

print("\nThe same transformer, other machines (layers, heads, width, tokens; steps decoded):")
for name, machine in MACHINES.items():
    for addressed in (False, True):
        other = turing_machine(machine, 200, addressed=addressed)
        decoded = other.interface.steps(other.generate(other.interface.prompt(), 200))
        assert decoded == machine.run(200)
        size = f"{other.n_layers:2}{other.n_heads:3}{other.d_model:4}"
        print(f"  {name:15}{size}{other.interface.vocabulary_size:6}{len(decoded):6}")

with saving(target) as file:
    save(file, draw, [(beaver, steps)])
print(f"\nThe picture is in {target}")
