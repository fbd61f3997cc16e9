"""Claims about graph connectivity."""
