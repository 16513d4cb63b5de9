"""Entry points and the loop."""

import gc

gc.set_threshold(20_000, 50, 50)
"""Imports and parsed policies stay: looking through them for garbage is a tenth of a cold start."""
