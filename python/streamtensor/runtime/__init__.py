"""Running a compiled model: the runtime process, generation, evaluation, the comparison."""
