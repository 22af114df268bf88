"""Generating text with a compiled model: the runtime process, sampling, the comparison."""
