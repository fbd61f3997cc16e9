"""`python -m verify`."""

import os
import sys

# Claims work on many small matrices, for which threads that wait for each other only cost time.
# OpenMP reads this when torch and numpy are first imported; who wants threads sets it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from theory.terminal import run
from verify.cli.main import main

sys.exit(run(main))
