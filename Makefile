# One virtual environment in the checkout; every target sets up what it needs.
PYTHON ?= python3
BIN := .venv/bin

# The tests start hundreds of interpreters, each of which would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test coverage soak lint bench clean

setup: .venv/.ready

.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
		$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: setup
	$(BIN)/ncubot demo $(ARGS)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# More workers than cores: many tests wait for real processes.
test: lint
	$(BIN)/pytest -n 3 --dist loadfile $(ARGS)

# The same with every line counted, which takes half as long again.
coverage: setup
	$(BIN)/pytest -n 3 --dist loadfile --cov --cov-report=term $(ARGS)

# The long loops in full: hostile submissions, everything killed over and over, bad luck in Discord.
soak: setup
	NCUBOT_SOAK=1 $(BIN)/pytest -n 2 --dist loadfile tests/soak tests/hostile tests/discord tests/ray --timeout=1800 $(ARGS)

bench: setup
	$(BIN)/python -m benchmarks $(ARGS)

clean:
	rm -rf .venv demo-output ncubot-data
