"""An induction head written by hand, in TransformerLens: `python examples/induction_in_lens.py`.

It needs the extra: pip install 'weightwright[lens]'. Translates the model, compares logits, draws
the attention of both heads on a block of tokens that is repeated, and erases the register that the
second layer reads: `python examples/induction_in_lens.py [PICTURE]`.
"""

import numpy as np
from matplotlib.figure import Figure

from constructions import induction_heads
from constructions.stock import to_lens
from verify.output.files import picture_argument, saving

target = picture_argument(__doc__, "induction_in_lens.png")

V, BETA = 8, 40.0

model = induction_heads(V, 2 * V).sharpened(BETA)
bridge = to_lens(model)
tokens = np.tile(np.random.default_rng(0).permutation(V), 2)[None]
prompt = model.prompt(tokens)  # a token BOS stands in front
logits, cache = bridge.run_with_cache(prompt.tokens)
logits = logits[:, prompt.answers].detach()

print(model)
print("\ncoordinates of the stream in TransformerLens:", " ".join(bridge.residual_labels))
print("\ntokens          ", *tokens[0])
print("answers there   ", *model.interface.read(logits, tokens)[0].tolist())
print("answers here    ", *model(tokens)[0].tolist())
print(f"largest difference of a logit: {float((logits - model.logits(tokens)).abs().max()):.1e}")


def forget(stream, hook):
    """The stream before layer 2, with the output of layer 1 erased."""
    stream[..., model.stream["previous"]] = 0
    return stream


patched = bridge.run_with_hooks(prompt.tokens, fwd_hooks=[("blocks.1.hook_resid_pre", forget)])
patched = patched[:, prompt.answers].detach()
print("previous erased ", *model.interface.read(patched, tokens)[0].tolist())

words = ["BOS", *map(str, tokens[0])]
figure = Figure(figsize=(9, 4.6), layout="constrained")
for i, axis in enumerate(figure.subplots(1, 2)):
    axis.imshow(cache[f"blocks.{i}.attn.hook_pattern"][0, 0].detach(), cmap="Blues", vmin=0, vmax=1)
    axis.set_title(["layer 1: the token before", "layer 2: after the last match"][i])
    axis.set_xticks(range(len(words)), words, fontsize=8)
    axis.set_yticks(range(len(words)), words, fontsize=8)
    axis.set_xlabel("key")
figure.supylabel("query")
with saving(target) as file:
    figure.savefig(file, dpi=150)
print(f"\npicture: {target}")
