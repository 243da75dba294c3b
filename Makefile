# `make` lists what there is to do. Nothing here needs root; everything goes into .venv and build.
PYTHON ?= python3
VENV   := .venv
BIN    := $(CURDIR)/$(VENV)/bin
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
PIP    := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet -c constraints.txt
PAGE   := src/ugraphemb/web/static/index.html
CORE   := CMakeLists.txt pyproject.toml $(shell find cpp -name tests -prune -o -type f -print)
ALONE  := $(BIN)/python tests/engines/alone.py
export PATH := $(BIN):$(PATH)
export PYTHONDONTWRITEBYTECODE :=  # else each of the many processes that tests start compiles everything anew

.PHONY: help demo test test-engines lint types cpp-test py-test bench docs docs-serve tutorials experiments experiments-quick fuzz fuzz-api laws sanitize torture torture-engines wheels page serve test-page format clean setup
.DEFAULT_GOAL := help

help:  ## show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.demo $(VENV)/.built  ## set up and run the main job on 5,000 molecules (pictures go to out/)
	$(BIN)/python examples/demo.py

test: lint types cpp-test py-test  ## set up, lint, check types, run the C++ and the Python tests

lint: $(VENV)/.test $(VENV)/.built  ## ruff, clang-format, spelling, language and links, import-linter (which package may import which)
	$(BIN)/ruff check --quiet .
	$(BIN)/codespell
	$(BIN)/python docs/tools/language.py
	$(BIN)/ruff format --check --quiet .
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files 'cpp/*.hpp' 'cpp/*.cpp')
	@$(BIN)/lint-imports --no-cache > build/imports.log 2>&1 || { cat build/imports.log; exit 1; }

types: $(VENV)/.test $(VENV)/.built  ## mypy, strict, on src
	$(BIN)/mypy

cpp-test: $(VENV)/.test  ## the C++ tests
	@$(BIN)/cmake -S . -B build/tests -G Ninja -DUGRAPHEMB_TESTS=ON > build/tests.log 2>&1 || { cat build/tests.log; exit 1; }
	$(BIN)/ninja -C build/tests --quiet
	$(BIN)/ctest --test-dir build/tests --output-on-failure -j $(JOBS)

py-test: $(VENV)/.test $(VENV)/.built $(PAGE)  ## the Python tests, but for those in a browser (test-page)
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m 'not browser' $(TESTS)
	@echo "the tests of the page in a browser were skipped: make test-page runs them"

page: $(PAGE)  ## build the page of `ugraphemb serve` from web/; Node comes from PyPI

serve: $(VENV)/.web $(VENV)/.built $(PAGE) out/index/index.json  ## open the page on the index of the demo; PORT=8000
	$(BIN)/ugraphemb serve out/index --name molecules --port $(or $(PORT),8000) --open

test-page: $(VENV)/.test $(VENV)/.built $(PAGE)  ## the tests of the page in a browser; BROWSER=required fails without one
	UGRAPHEMB_BROWSER=$(BROWSER) $(BIN)/python -m pytest -q tests/web -m browser $(TESTS)

docs: $(VENV)/.docs $(VENV)/.built  ## the documentation site, into build/site; offline, and any warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "build/site/index.html"

docs-serve: $(VENV)/.docs $(VENV)/.built  ## the documentation site at http://localhost:8000, rebuilt when a page changes
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve --dev-addr localhost:8000

tutorials: $(VENV)/.test $(VENV)/.built  ## run the tutorials (examples/tutorials) and write their pages, docs/tutorials; TUTORIALS=name for one
	$(BIN)/python docs/tools/tutorials.py $(TUTORIALS)

test-engines: $(VENV)/.engines $(VENV)/.built  ## start real Milvus, PostgreSQL and S3 servers, run the laws of every engine and a few kills
	UGRAPHEMB_ENGINES=required $(ALONE) $(BIN)/python -m pytest -q tests/engines tests/bulk/test_s3.py $(TESTS)

experiments: $(VENV)/.test $(VENV)/.built  ## every table and figure of the paper, and ours: a night on 2 cores; it can be stopped and continued
	$(BIN)/python -m experiments --jobs $(JOBS)

experiments-quick: $(VENV)/.test $(VENV)/.built  ## a meaningful part of the experiments, 20 minutes; writes docs/results.md
	$(BIN)/python -m experiments --quick --minutes 18 --jobs $(JOBS)

fuzz: $(VENV)/.test $(VENV)/.built  ## INPUTS=200000 damaged files for every reader and saved format; result in benchmarks/results
	PYTHONPATH=tests:benchmarks $(BIN)/python -m torture.fuzz --inputs $(or $(INPUTS),200000) --record

fuzz-api: $(VENV)/.test $(VENV)/.built  ## EXAMPLES=300 right and wrong requests for every route of the HTTP API
	$(BIN)/python tests/web/fuzz_api.py --examples $(or $(EXAMPLES),300)

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

torture-engines: $(VENV)/.engines $(VENV)/.built  ## SIGKILL of Milvus and PostgreSQL servers, 20 times per kind; result in benchmarks/results
	PYTHONPATH=tests:benchmarks $(ALONE) $(BIN)/python -W ignore -m engines.kills --engine postgres --engine milvus --record

wheels: $(VENV)/.venv $(PAGE)  ## sdist and wheels into dist/, checked by auditwheel, and tried on every Python at hand
	@$(PIP) $$($(BIN)/python .ci/requirements.py --only release)
	$(BIN)/python .ci/wheels.py

format: $(VENV)/.test web/node_modules/.installed  ## format all code
	$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet .
	cd web && $(BIN)/npm run --silent format
	$(BIN)/clang-format -i $$(git ls-files 'cpp/*.hpp' 'cpp/*.cpp')

setup: $(VENV)/.test $(VENV)/.built  ## only set up: .venv with everything that the tests need

clean:  ## remove .venv and everything built
	rm -rf $(VENV) build dist out web/node_modules $(dir $(PAGE))

# One stamp file per step, so that a second run installs nothing.
$(VENV)/.venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "ugraphemb needs Python 3.11 or newer; set PYTHON=python3.11, say" >&2; exit 1; }
	@command -v $${CXX:-g++} > /dev/null || \
	    { echo "ugraphemb is built from C++20 and found no g++: apt install g++ (Debian, Ubuntu), dnf install gcc-c++ (Fedora)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	    { echo "could not create .venv: apt install python3-venv (Debian, Ubuntu)" >&2; rm -rf $(VENV); exit 1; }
	@mkdir -p build && touch $@

$(VENV)/.demo: $(VENV)/.venv pyproject.toml constraints.txt
	@echo "installing dependencies into .venv (a minute or two, once)"
	@$(PIP) cmake ninja nanobind scikit-build-core $$($(BIN)/python .ci/requirements.py molecules plot search)
	@touch $@

out/index/index.json: | $(VENV)/.demo $(VENV)/.built
	$(BIN)/python examples/demo.py

$(VENV)/.web: $(VENV)/.demo
	@echo "installing what the server needs into .venv (once)"
	@$(PIP) $$($(BIN)/python .ci/requirements.py web)
	@touch $@

$(VENV)/.test: $(VENV)/.demo
	@echo "installing what the tests need into .venv (once)"
	@$(PIP) $$($(BIN)/python .ci/requirements.py all test)
	@touch $@

$(VENV)/.docs: $(VENV)/.demo
	@echo "installing what the documentation needs into .venv (once)"
	@$(PIP) $$($(BIN)/python .ci/requirements.py docs)
	@touch $@

web/node_modules/.installed: $(VENV)/.venv web/package.json web/package-lock.json
	@echo "installing Node into .venv and what the page is built from into web/node_modules (once)"
	@$(PIP) $$($(BIN)/python .ci/requirements.py --only page)
	@cd web && $(BIN)/npm ci --silent
	@touch $@

$(PAGE): web/node_modules/.installed $(shell find web -name node_modules -prune -o -type f -print)
	@cd web && $(BIN)/npm run --silent build

$(VENV)/.engines: $(VENV)/.test
	@echo "installing clients and servers of vector databases into .venv (once)"
	@$(PIP) $$($(BIN)/python .ci/requirements.py test-engines)
	@$(PYTHON) -m venv build/s3 && PIP_DISABLE_PIP_VERSION_CHECK=1 build/s3/bin/python -m pip install --quiet 'moto[server]==5.2.5'  # apart: it needs older packages
	@touch $@

$(VENV)/.built: $(VENV)/.demo $(CORE)
	@echo "building the compiled core"
	@$(PIP) --no-build-isolation --no-deps --config-settings=build-dir=build/dev --editable .
	@touch $@
