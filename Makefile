# Everything runs in .venv, which `install` makes; nothing else on the machine is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= 2

.PHONY: install demo test soak lint format notebooks bench docs clean

install: $(STAMP)

# torch first and by version: left to the resolver it brings gigabytes of GPU libraries.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(grep '^torch==' constraints.txt)" -c constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[all]"
	touch $(STAMP)

# Train on the draw game for a few minutes, then measure against the random and the greedy player.
demo: install
	$(BIN)/dominoes demo

test: install
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest tests -m unjitted
	$(BIN)/python -m coverage report --fail-under=100

soak: install
	$(BIN)/python -m pytest -m slow
	$(BIN)/python tests/soak.py --games 1000000

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Run the notebooks from their Python halves and write them with their outputs.
notebooks: install
	$(BIN)/python notebooks/execute.py

bench: install
	$(BIN)/dominoes bench

# The pages of docs/ that are made from the code.
docs: install
	$(BIN)/python docs/make_pages.py

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
