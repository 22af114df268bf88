"""Makes a random program of a seed; the same seed gives the same program."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import replace

import torch

from random_programs.operations import OPERATIONS
from random_programs.program import Input, Program, Size, Step

SIZES = [1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 11, 13, 16, 17, 32]
# Where tokens become vectors.
WIDE_SIZES = [1, 4, 8, 12, 16, 16, 32, 48]
# On-chip memory for converters: none (no fusion), too little for some, plenty.
BUDGETS = [None, None, None, 0, 256, 1024]
MAX_ELEMENTS = 2048
# Programs with sizes that are known at run time, of those that have free ones.
DYNAMIC_SHARE = 0.4
MAX_INPUT_ELEMENTS = 512
MAX_VALUE = 1e3
# A program is fit when its results do not depend on the order of roundings: f32
# and f64 agree, and inputs that differ in the last places give the same results,
# both ten times closer than the check's tolerance. A comparison is fit when no two
# sides are almost equal.
FIT_TOLERANCE = 1e-5
PERTURBATION = 1e-6
MARGIN = 1e-4


class Builder:
    """A program that grows, with the values of what is there so far."""

    def __init__(self, seed: int, attempt: int, dtype: str) -> None:
        # Neighbouring seeds must not give similar programs.
        self.random = random.Random(f"random program {seed}.{attempt}")
        self.seed = seed
        self.dtype = dtype
        # With few different sizes more operands fit each other.
        sizes = self.random.choice([SIZES, SIZES, WIDE_SIZES])
        few = self.random.random() < 0.5
        self.sizes = self.random.sample(sizes, 3) if few else sizes
        self.options: dict[str, str] = {}
        budget = self.random.choice(BUDGETS)
        if budget is not None:
            self.options["onchip-budget-bytes"] = str(budget)
        self.values: list[torch.Tensor] = []
        # How often each value was used; new inputs stand at the end until the
        # program is numbered.
        self.uses: list[int] = []
        self.kinds: list[str] = []

    def shape(self, value: int) -> tuple[int, ...]:
        return tuple(self.values[value].shape)

    def size(self) -> int:
        return self.random.choice(self.sizes)

    def role(self) -> str:
        return self.random.choice(["input", "input", "weight"])

    def dim(self, value: int) -> int:
        return self.random.randrange(len(self.shape(value)))

    def pick(self, fits: Callable[[tuple[int, ...]], bool] = lambda shape: True) -> int | None:
        """A value that fits, rather a late one, and rather one without a use."""
        candidates = [index for index in range(len(self.values)) if fits(self.shape(index))]
        if not candidates:
            return None
        late = self.random.random() < 0.6
        weights = [
            (1 + index if late else 1) * (2 if self.uses[index] == 0 else 1) for index in candidates
        ]
        return self.random.choices(candidates, weights)[0]

    @staticmethod
    def broadcasts(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
        try:
            torch.broadcast_shapes(first, second)
        except RuntimeError:
            return False
        return True

    def partner(self, first: int) -> int:
        """A value, or a new input, that broadcasts with `first`."""
        shape = self.shape(first)
        if self.random.random() < 0.75:
            found = self.pick(lambda other: self.broadcasts(shape, other))
            if found is not None:
                return found
        mine = [size if self.random.random() < 0.7 else 1 for size in shape]
        return self.new_input(mine[self.random.randint(0, len(mine)) :], self.role())

    def factors(self, count: int) -> list[int]:
        """A shape of at most four dimensions with `count` elements."""
        primes = []
        rest, divisor = count, 2
        while rest > 1:
            while rest % divisor == 0:
                primes.append(divisor)
                rest //= divisor
            divisor += 1
        shape = [1] * self.random.randint(0 if count == 1 else 1, 4)
        for prime in primes:
            shape[self.random.randrange(len(shape))] *= prime
        return shape

    def new_input(self, shape: list[int], role: str = "input") -> int:
        self.values.append(torch.empty(shape))
        self.uses.append(0)
        self.kinds.append(role)
        return len(self.values) - 1


def fit(program: Program) -> bool:
    """Whether the program is fit at each of its run-time sizes, and of one rank at all."""
    if not all(fits_dimensions(program, size) for size in program.sizes):
        return False
    lengths = program.lengths()
    return all(map(fit_at_length, lengths)) and all(
        ranks(length) == ranks(lengths[0]) for length in lengths[1:]
    )


def ranks(program: Program) -> list[int]:
    """A squeezed dimension is gone where its size is 1."""
    return [value.dim() for value in program.run(program.data())]


def fits_dimensions(program: Program, size: Size) -> bool:
    """Whether all dimensions of a run-time size are there and have one size above 1."""
    traced = set()
    for index, dim in size.dims:
        if index >= len(program.inputs) or dim >= len(program.inputs[index].shape):
            return False
        traced.add(program.inputs[index].shape[dim])
    return len(traced) == 1 and min(traced) > 1 and bool(size.others)


def fit_at_length(program: Program) -> bool:
    """Whether every value of the program is finite, small and well conditioned."""
    data = program.data()
    try:
        single = program.run(data)
        exact = program.run([value.double() for value in data])
        noise = torch.Generator().manual_seed(program.seed)
        moved = program.run(
            [
                value.double() * (1 + PERTURBATION * torch.randn(value.shape, generator=noise))
                for value in data
            ]
        )
    except (RuntimeError, IndexError, ValueError, TypeError):
        # A smaller program of the shrinker need not make sense.
        return False
    for value, reference, other in zip(single, exact, moved, strict=True):
        if not reference.isfinite().all() or not 1 <= value.numel() <= MAX_ELEMENTS:
            return False
        scale = reference.abs().max()
        if scale > MAX_VALUE:
            return False
        allowed = FIT_TOLERANCE * (reference.abs() + scale)
        if program.dtype == "f32" and ((value - reference).abs() > allowed).any():
            return False
        if ((other - reference).abs() > allowed).any():
            return False
    return all(decided(program, step, exact) for step in program.steps)


def decided(program: Program, step: Step, values: list[torch.Tensor]) -> bool:
    """Whether no comparison of the step is between two almost equal numbers."""
    margin = OPERATIONS[step.op].margin
    if margin is None:
        return True
    operands = [values[index] for index in step.args]
    distance = margin(*operands, **step.attrs).abs()
    scale = max([1.0, *(operand.abs().max().item() for operand in operands)])
    return bool(((distance > MARGIN * scale) | (distance == 0)).all())


def start_shape(builder: Builder) -> list[int]:
    rank = builder.random.choice([0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4])
    while True:
        # Few sizes may all be large: then of a lower rank.
        rank -= rank > 1 and builder.random.random() < 0.2
        shape = [builder.size() for _ in range(rank)]
        if torch.Size(shape).numel() <= MAX_INPUT_ELEMENTS:
            return shape


def generate(seed: int, dtype: str = "f32") -> Program:
    """Returns the program of a seed: 1 to 3 first inputs, 1 to 16 operations."""
    for attempt in itertools.count():
        program = grow(Builder(seed, attempt, dtype))
        # Dropped inputs give the others new numbers, and with them new values.
        if fit(program):
            return with_sizes(program, random.Random(f"sizes {seed}"))
    raise AssertionError("unreachable")


def with_sizes(program: Program, choice: random.Random) -> Program:
    """Gives a share of the programs up to two run-time sizes, where they are free.

    A dimension of an input is free alone, or together with all that are as large.
    """
    if choice.random() >= DYNAMIC_SHARE:
        return program
    places = [
        [index, dim]
        for index, entry in enumerate(program.inputs)
        for dim, size in enumerate(entry.shape)
        if entry.role == "input" and size > 1
    ]
    choice.shuffle(places)
    wanted = choice.choice([1, 1, 2])
    for index, dim in places:
        taken = [place for size in program.sizes for place in size.dims]
        traced = program.inputs[index].shape[dim]
        equal = [p for p in places if program.inputs[p[0]].shape[p[1]] == traced]
        others = [1, choice.choice([traced - 1, traced + 1]), choice.choice([2, 3, 5, 2 * traced])]
        for dims in ([[index, dim]], equal):
            if any(place in taken for place in dims):
                continue
            candidate = replace(program, sizes=[*program.sizes, Size(dims, others)])
            if fit(candidate):
                program = candidate
                break
        if len(program.sizes) == wanted:
            break
    return program


def grow(builder: Builder) -> Program:
    for _ in range(builder.random.randint(1, 3)):
        builder.new_input(start_shape(builder))
    names = list(OPERATIONS)
    weights = [OPERATIONS[name].weight for name in names]
    # Values are numbered as they come; inputs move to the front at the end.
    made: list[Input | Step] = [Input(list(builder.shape(i))) for i in range(len(builder.values))]
    wanted = builder.random.choice([1, 2, 3, 4, 5, 6, 8, 10, 12, 16])
    attempts = 0
    while sum(isinstance(entry, Step) for entry in made) < wanted and attempts < 20 * wanted:
        attempts += 1
        name = builder.random.choices(names, weights)[0]
        before = len(builder.values)
        drawn = OPERATIONS[name].draw(builder)
        if drawn is not None:
            args, attrs = drawn
            new = [
                Input(list(value.shape), role)
                for value, role in zip(builder.values[before:], builder.kinds[before:], strict=True)
            ]
            candidate = [*made, *new, Step(name, args, attrs)]
            program, _ = numbered(builder, candidate, [])
            if small(new) and fit(program):
                made = candidate
                # Only the shape of a value counts for what is drawn next.
                values = program.run(program.data())
                builder.values.append(torch.empty(values[-1].shape))
                builder.uses.append(0)
                builder.kinds.append("")
                for index in args:
                    builder.uses[index] += 1
                continue
        del builder.values[before:], builder.uses[before:], builder.kinds[before:]
    program, number = numbered(builder, made, [])
    program.results = [number[index] for index in choose_results(builder, made)]
    return program.pruned(keep_dead_steps=builder.random.random() < 0.5)


def small(inputs: list[Input]) -> bool:
    return all(torch.Size(entry.shape).numel() <= MAX_INPUT_ELEMENTS for entry in inputs)


def numbered(
    builder: Builder, made: list[Input | Step], results: list[int]
) -> tuple[Program, dict[int, int]]:
    """Puts the inputs first; returns the program and the new number of each value."""
    inputs = [index for index, entry in enumerate(made) if isinstance(entry, Input)]
    steps = [index for index, entry in enumerate(made) if isinstance(entry, Step)]
    number = {old: new for new, old in enumerate([*inputs, *steps])}
    program = Program(
        [made[index] for index in inputs],
        [
            Step(made[index].op, [number[arg] for arg in made[index].args], made[index].attrs)
            for index in steps
        ],
        [number[index] for index in results],
        seed=builder.seed,
        dtype=builder.dtype,
        options=dict(builder.options),
    )
    return program, number


def choose_results(builder: Builder, made: list[Input | Step]) -> list[int]:
    """The last value, some that nobody reads, and the odd cases of results."""
    draw = builder.random
    steps = [index for index, entry in enumerate(made) if isinstance(entry, Step)]
    results = [steps[-1]] if steps else [0]
    for index in steps[:-1]:
        if draw.random() < (0.6 if builder.uses[index] == 0 else 0.1):
            results.append(index)
    if draw.random() < 0.1:
        # An argument as it is.
        results.append(draw.choice([i for i, entry in enumerate(made) if isinstance(entry, Input)]))
    if draw.random() < 0.15:
        results.append(draw.choice(results))
    draw.shuffle(results)
    return results
