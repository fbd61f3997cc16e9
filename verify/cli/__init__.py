"""The command line: its commands, and the runs of claims."""
