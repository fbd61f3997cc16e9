"""What every command writes: lines for people, files, notices of long runs."""
