# One way to do each thing. CI calls the same targets.

PYTHON ?= python3
PORT ?= 8000
JOBS ?= 2
KILLS ?= 500

VENV := .venv
BIN := $(VENV)/bin
# All of it slow, and slow to collect: end to end, and what is generated from the description.
NOT_FAST := --ignore tests/end_to_end --ignore tests/http/test_generated_requests.py -p no:schemathesis
CHROMIUM_NAMES := chromium chromium-browser google-chrome
PACKAGES := $(sort $(patsubst %/__init__.py,%,$(wildcard src/*/__init__.py src/*/*/__init__.py)))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install browser demo serve test test-fast kill lint fmt check bench lock wheel clean FORCE

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

install: $(VENV)/installed ## Put everything in .venv, .venv/bin/awareness included; instant when nothing changed

browser: ## Look for Chromium, which the tests in a browser need; as root on Debian, install it
	@for name in $(or $(TEST_CHROMIUM),$(CHROMIUM_NAMES)); do command -v "$$name" && exit; done; \
	if [ -z "$(TEST_CHROMIUM)" ] && [ "$$(id -u)" = 0 ] && grep -qsx ID=debian /etc/os-release; then \
		apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium; \
	else \
		echo "Chromium is missing. On Debian: apt-get install chromium. Elsewhere install Chromium or Chrome," \
			"or name one that is there: make test TEST_CHROMIUM=/path/to/it" >&2; exit 1; \
	fi

demo: install ## Run a whole fictional company on http://localhost:$PORT, nothing to configure
	$(BIN)/awareness demo --port $(PORT)

serve: install ## Migrate the database and serve it on $PORT (settings: awareness.toml, AWARENESS_*)
	$(BIN)/awareness migrate
	$(BIN)/awareness serve --port $(PORT)

test: install ## Run every test, with many examples for each property
	HYPOTHESIS_PROFILE=thorough $(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

test-fast: install ## Run the tests that need no server, in about a minute
	HYPOTHESIS_PROFILE=fast $(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "not slow" $(NOT_FAST)

kill: install ## Kill API, worker and database $KILLS times while people are invited; minutes
	$(BIN)/python -m tests.end_to_end.killing --store sqlite --kills $(KILLS)
	$(BIN)/python -m tests.end_to_end.killing --store postgres --kills $(KILLS) --restarts $$(($(KILLS) / 10))

lint: install ## Check style, format, types and import rules
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --strict src tests benchmarks
	$(BIN)/lint-imports

fmt: install ## Format, and repair what can be repaired by itself
	$(BIN)/ruff check --fix-only --quiet
	$(BIN)/ruff format

check: lint test-fast ## What to run before a commit

bench: install ## Measure the ratios in docs/performance.md on this machine
	$(BIN)/python -m benchmarks

wheel: install ## Build the wheel into dist/, without the network
	rm -rf build dist
	$(BIN)/python -m build --wheel --no-isolation

lock: install ## Compile the hashed lock files anew from pyproject.toml and requirements/dev.in
	$(COMPILE) requirements/dev.in -o requirements/dev.lock
	$(COMPILE) -o requirements/server.lock

clean: ## Remove what the targets above made, .venv included
	rm -rf $(VENV) build dist mutants .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage*

COMPILE = $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links \
	--python-version 3.11 --custom-compile-command "make lock" $(UPGRADE) \
	--extra server --extra postgres --extra redis pyproject.toml

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed; '$(PYTHON)' is not. Name another: make install PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || \
		{ echo "'$(PYTHON)' lacks venv; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# What is locked. The stamp is written last, so an interrupted install is taken up again.
$(VENV)/locked: requirements/dev.lock $(VENV)/pyvenv.cfg
	@echo "Installing the locked packages into $(VENV); the first time this takes a minute or two."
	$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/dev.lock
	@touch $@

# An editable install knows the packages that were there when it was made: the list is part of what it depends on.
$(VENV)/packages: FORCE | $(VENV)/locked
	@echo '$(PACKAGES)' | cmp -s - $@ || echo '$(PACKAGES)' > $@

$(VENV)/installed: pyproject.toml $(VENV)/locked $(VENV)/packages
	$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
