"""`python -m verify`."""

import os
import sys

# Claims use many small matrices, for which several threads are slower than one.  OpenMP reads this
# variable when torch and numpy are first imported; a user who wants threads sets it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

try:
    from theory.terminal import run
    from verify.cli.main import main
except KeyboardInterrupt:  # as of Ctrl-C while modules are imported
    print("interrupted", file=sys.stderr)
    sys.exit(130)

sys.exit(run(main))
