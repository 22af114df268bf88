"""Random PyTorch programs through the compiler, compared with PyTorch.

`program` says what a program is, `operations` what it is made of, `generate` makes
one of a seed, `check` takes it through the importer, every phase and the C
simulation, `shrink` makes a failing one small. `python -m random_programs` (or
`make fuzz`) runs ranges of seeds.
"""
