"""Tables for programs; `public.py` documents them."""
