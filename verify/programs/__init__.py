"""Claims on programs in RASP."""
