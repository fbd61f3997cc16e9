"""The command line: commands, options, running and printing."""
