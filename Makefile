# `make` lists what there is to do. Nothing here needs root; everything goes into .venv and build.
PYTHON ?= python3
VENV   := .venv
BIN    := $(CURDIR)/$(VENV)/bin
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
PIP    := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet -c constraints.txt
CORE   := CMakeLists.txt pyproject.toml $(shell find cpp -name tests -prune -o -type f -print)
export PATH := $(BIN):$(PATH)

.PHONY: help demo test lint types cpp-test py-test bench experiments experiments-quick fuzz laws sanitize torture wheel format clean setup
.DEFAULT_GOAL := help

help:  ## show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.demo $(VENV)/.built  ## set up and run the main job on 5,000 molecules (pictures go to out/)
	$(BIN)/python examples/demo.py

test: lint types cpp-test py-test  ## set up, lint, check types, run the C++ and the Python tests

lint: $(VENV)/.test $(VENV)/.built  ## ruff, clang-format, import-linter (who may import whom)
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files 'cpp/*.hpp' 'cpp/*.cpp')
	@$(BIN)/lint-imports --no-cache > build/imports.log 2>&1 || { cat build/imports.log; exit 1; }

types: $(VENV)/.test $(VENV)/.built  ## mypy, strict, on src
	$(BIN)/mypy

cpp-test: $(VENV)/.test  ## the C++ tests
	@$(BIN)/cmake -S . -B build/tests -G Ninja -DUGRAPHEMB_TESTS=ON > build/tests.log 2>&1 || { cat build/tests.log; exit 1; }
	$(BIN)/ninja -C build/tests --quiet
	$(BIN)/ctest --test-dir build/tests --output-on-failure -j $(JOBS)

py-test: $(VENV)/.test $(VENV)/.built  ## the Python tests
	$(BIN)/python -m pytest -q -n $(JOBS) $(TESTS)

experiments: $(VENV)/.test $(VENV)/.built  ## every table and figure of the paper, and ours: a night on 2 cores; stop and go on at will
	$(BIN)/python -m experiments --jobs $(JOBS)

experiments-quick: $(VENV)/.test $(VENV)/.built  ## a meaningful part of the experiments, 20 minutes; writes docs/results.md
	$(BIN)/python -m experiments --quick --minutes 18 --jobs $(JOBS)

fuzz: $(VENV)/.test $(VENV)/.built  ## INPUTS=200000 damaged files for every reader and saved format; result in benchmarks/results
	PYTHONPATH=tests:benchmarks $(BIN)/python -m torture.fuzz --inputs $(or $(INPUTS),200000) --record

laws: $(VENV)/.test  ## the random laws of edit distance on PAIRS=1000000 pairs (SEED=1); result in benchmarks/results
	@$(BIN)/cmake -S . -B build/tests -G Ninja -DUGRAPHEMB_TESTS=ON > build/tests.log 2>&1 || { cat build/tests.log; exit 1; }
	$(BIN)/ninja -C build/tests --quiet test_laws
	$(BIN)/python benchmarks/laws.py --pairs $(or $(PAIRS),1000000) --seed $(or $(SEED),1)

sanitize: $(VENV)/.test  ## the C++ tests under ASan + UBSan, then under the thread sanitizer
	for kind in address,undefined thread; do \
	    $(BIN)/cmake -S . -B build/$$kind -G Ninja -DUGRAPHEMB_TESTS=ON -DSANITIZE=$$kind > /dev/null && \
	    $(BIN)/ninja -C build/$$kind --quiet && \
	    $(BIN)/ctest --test-dir build/$$kind --output-on-failure -j $(JOBS) || exit 1; \
	done

sanitize-extension: $(VENV)/.test  ## the Python tests and laws of proximities with the extension under ASan
	@$(BIN)/cmake -S . -B build/extension -G Ninja -DSANITIZE=address -DPython_EXECUTABLE=$(BIN)/python > build/extension.log 2>&1 || \
	    { cat build/extension.log; exit 1; }
	$(BIN)/ninja -C build/extension --quiet baseline
	rm -rf build/extension/site && mkdir -p build/extension/site && cp -r src/ugraphemb build/extension/site
	cp build/extension/baseline*.so build/extension/site/ugraphemb/_core
	LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libstdc++.so)" \
	    ASAN_OPTIONS=detect_leaks=0 UGRAPHEMB_CPU=baseline $(BIN)/python tests/sanitized.py build/extension/site \
	    -q -p no:cacheprovider tests/proximity tests/laws/test_ged_laws.py tests/baselines/test_kernels.py

bench: $(VENV)/.test $(VENV)/.built  ## every benchmark, one after the other; results in benchmarks/results
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

torture: $(VENV)/.test $(VENV)/.built  ## kills, faults, flipped bits and other processes, for everything that is saved; see TORTURE
	PYTHONPATH=tests:benchmarks $(BIN)/python -m torture $(TORTURE)

wheel: $(VENV)/.test  ## build sdist and wheel, install the wheel into an empty environment and try it
	rm -rf dist build/smoke
	$(PIP) build
	$(BIN)/python -m build --quiet --outdir dist .
	$(PYTHON) -m venv build/smoke
	PIP_DISABLE_PIP_VERSION_CHECK=1 build/smoke/bin/python -m pip install --quiet -c constraints.txt dist/*.whl
	cd build/smoke && bin/python $(CURDIR)/examples/smoke.py && bin/ugraphemb --version

format: $(VENV)/.test  ## format all code
	$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet .
	$(BIN)/clang-format -i $$(git ls-files 'cpp/*.hpp' 'cpp/*.cpp')

setup: $(VENV)/.test $(VENV)/.built  ## only set up: .venv with everything that the tests need

clean:  ## remove .venv and everything built
	rm -rf $(VENV) build dist out

# One stamp a step, so that a second run installs nothing.
$(VENV)/.venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	    { echo "ugraphemb needs Python 3.10 or newer; set PYTHON=python3.11, say" >&2; exit 1; }
	@command -v $${CXX:-g++} > /dev/null || \
	    { echo "ugraphemb is built from C++20 and found no g++: apt install g++ (Debian, Ubuntu), dnf install gcc-c++ (Fedora)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	    { echo "could not create .venv: apt install python3-venv (Debian, Ubuntu)" >&2; rm -rf $(VENV); exit 1; }
	@mkdir -p build && touch $@

$(VENV)/.demo: $(VENV)/.venv pyproject.toml constraints.txt
	@echo "installing dependencies into .venv (a minute or two, once)"
	@$(PIP) cmake ninja nanobind scikit-build-core $$($(BIN)/python .ci/requirements.py molecules plot search)
	@touch $@

$(VENV)/.test: $(VENV)/.demo
	@echo "installing what the tests need into .venv (once)"
	@$(PIP) $$($(BIN)/python .ci/requirements.py all test)
	@touch $@

$(VENV)/.built: $(VENV)/.demo $(CORE)
	@echo "building the compiled core"
	@$(PIP) --no-build-isolation --no-deps --config-settings=build-dir=build/dev --editable .
	@touch $@
