"""Causal language models: finding the layer, splitting host and accelerator, compiling."""
