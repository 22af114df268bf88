"""Causal language models: finding the layer, splitting host and accelerator, compiling."""

import os

# Everything is loaded from local files. This must stand before the first import of
# transformers, which reads the variable once.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
