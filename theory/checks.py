"""Moved to `theory.kinds`."""

from theory.kinds import InputError as InputError
from theory.kinds import array_of as array_of
from theory.kinds import real as real
from theory.kinds import shown as shown
