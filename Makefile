# The commands of the project; every one of them first brings the set-up and
# the build up to date, and can be run again at once.
#
#   make demo      simulate the time of SmolLM2-135M with its 4-bit weights, generate
#                  text with it, and measure how well it reads a text
#   make test      all checks and tests; the last line counts them
#   make build     the tools in build/bin and .venv/bin/streamtensor
#   make fuzz      random programs against PyTorch: N of them from seed FIRST on,
#                  FUZZ_FLAGS=--interpret-only without C simulation; can be
#                  interrupted and started again
#   make fuzz-networks   10,000 mutated network files with sanitizers
#   make fuzz-files      10,000 mutated weights and descriptions, the same way
#   make fuzz-checkpoints   5,000 mutated checkpoints in Python
#   make bench     measure the figures of benchmarks/README.md
#   make docs      the reference of passes and dialects, in build/docs
#   make format    format the C++ and Python sources
#   make clean     remove what was built (not the .venv)
SHELL := /bin/bash
BUILD := build
VENV := .venv
CMAKE_FLAGS ?=

# A compilation in one clone serves every other clone: paths count relative to it.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

PROMPT ?= The capital of France is
TOKENS ?= 32
# A text that every Debian has, and how much of it is read.
TEXT ?= /usr/share/common-licenses/GPL-3
TEXT_TOKENS ?= 128

N ?= 500
FIRST ?= 0
FUZZ_FLAGS ?=

.DEFAULT_GOAL := build
.PHONY: build setup configure demo test fuzz fuzz-networks fuzz-files fuzz-checkpoints bench docs format clean

setup:
	@utils/setup.sh

# CMake runs each time: a new folder with its own CMakeLists.txt must be seen.
configure: setup
	@mkdir -p $(BUILD)
	@cmake -S . -B $(BUILD) -G Ninja $(CMAKE_FLAGS) >$(BUILD)/configure.log 2>&1 || \
	  { cat $(BUILD)/configure.log >&2; exit 1; }

build: configure
	@cmake --build $(BUILD)

demo: build
	$(VENV)/bin/streamtensor simulate smollm2-135m --precision w4a8 --phase decode
	$(VENV)/bin/streamtensor generate smollm2-135m --precision w4a8 --prompt "$(PROMPT)" --max-new-tokens $(TOKENS) --check
	$(VENV)/bin/streamtensor evaluate smollm2-135m --precision w4a8 --text $(TEXT) --tokens $(TEXT_TOKENS)

test: build
	@python3 utils/run_tests.py --build-dir $(BUILD)

fuzz: build
	@cd integration_test && ../$(VENV)/bin/python -m random_programs --first $(FIRST) --count $(N) $(FUZZ_FLAGS)

fuzz-networks: setup
	@$(VENV)/bin/python benchmarks/fuzz_networks.py

fuzz-files: setup
	@$(VENV)/bin/python benchmarks/fuzz_files.py

fuzz-checkpoints: setup
	@$(VENV)/bin/python benchmarks/fuzz_checkpoints.py

bench: build
	@python3 benchmarks/run.py --build-dir $(BUILD)

docs: setup
	@python3 utils/generate_docs.py --output-dir $(BUILD)/docs

format: setup
	@python3 utils/format.py

clean:
	rm -rf $(BUILD) .cache out .pytest_cache .ruff_cache
