# Two commands do everything on a fresh machine with Python ≥ 3.11: `make demo` and `make test`; `make check` is quick.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test check docs speed lint shape bench table report boxes static dist format clean

demo: $(STAMP)
	$(BIN)/frozenpinn demo

PYTEST := $(BIN)/python -m pytest -m "not timing" -n auto --dist loadfile
test: lint
	$(PYTEST) tests src lab

UNITS := language tables statement geometry operators basis assembly integrators analysis runtime convergence
check: $(STAMP)  ## the units, convergence, and one solve of each kind, in less than three minutes
	$(PYTEST) $(UNITS:%=tests/%) tests/test_each_kind.py

docs: $(STAMP)  ## the site, in docs/_build/html; solves the problems of the gallery (a few minutes the first time)
	MPLBACKEND=agg $(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

speed: $(STAMP)  ## ratios of times, on a quiet machine: too noisy to decide whether a change is right
	$(BIN)/python -m pytest -m timing lab/tests

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

shape: $(STAMP)  ## how much there is to read, to know and to run
	$(BIN)/python tools/shape.py

bench: $(STAMP)
	$(BIN)/frozenpinn-lab bench --all --recipe best --recipe paper --json benchmarks.json

TABLE := advection euler-bernoulli wave burgers korteweg-de-vries kuramoto-sivashinsky nonlinear-diffusion \
	reaction-diffusion-5d allen-cahn-2d gray-scott-2d advection-diffusion-3d helmholtz-solid bratu l-shape \
	inverse-poisson inverse-helmholtz
table: $(STAMP)  ## the table of the README (about ten minutes)
	$(BIN)/frozenpinn-lab bench $(TABLE) --method frozen-pinn --recipe best --recipe auto --recipe paper --tol 1e-6 \
		--seeds 1 --table table.md --json table.json

REPORT := --report report.html --no-studies --precision high
PEERS := --method iga --method iga-exact --method fem
TRAINED := --method pinn-lbfgs --seeds 1
report: $(STAMP)  ## the first table of docs/measured.md and its picture; what is finished is not run again
	$(BIN)/frozenpinn-lab bench --all $(REPORT) --method frozen-pinn --recipe best $(PEERS)
	$(BIN)/frozenpinn-lab bench --all $(REPORT) --method frozen-pinn --recipe auto --seeds 1
	$(BIN)/frozenpinn-lab bench --all $(REPORT) --method frozen-pinn --recipe paper
	$(BIN)/frozenpinn-lab bench burgers $(REPORT) $(TRAINED) --budget 600
	$(BIN)/frozenpinn-lab bench nonlinear-diffusion reaction-diffusion-5d heat-10d $(REPORT) $(TRAINED) --budget 90
	$(BIN)/frozenpinn-lab bench advection euler-bernoulli euler-bernoulli-winkler wave \
		$(REPORT) $(TRAINED) --budget 45 --table report.md --picture work-precision.png

BOXES := allen-cahn-2d brusselator-2d gray-scott-2d burgers-2d swirl-2d schroedinger-2d swift-hohenberg-2d \
	allen-cahn-3d heat-anisotropic-2d advection-diffusion-3d wave-3d
boxes: $(STAMP)  ## the table of boxes in docs/measured.md
	$(BIN)/frozenpinn-lab bench $(BOXES) --method frozen-pinn --method spectral --recipe best --recipe auto --tol 1e-6 \
		--seeds 1 --table boxes.md --json boxes.json

STATIC := helmholtz-solid poisson-5d nonlinear-poisson bratu bratu-line membrane-modes nonlinear-helmholtz steady-burgers liouville minimal-surface \
	plate elasticity-hole l-shape poisson-holes
static: $(STAMP)  ## the table of static problems in docs/measured.md
	$(BIN)/frozenpinn-lab bench $(STATIC) --method frozen-pinn --method fem --recipe best --recipe auto --recipe paper \
		--seeds 1 --table static.md --json static.json

dist: $(STAMP)  ## the wheel and the source archive of both packages, checked for an upload
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --outdir dist lab
	$(BIN)/twine check --strict dist/*
	@grep -q '^Source = ' pyproject.toml || echo 'Fill in [project.urls] in pyproject.toml before you upload.'

format: $(STAMP)
	$(BIN)/ruff check --fix --quiet . || true
	$(BIN)/ruff format .

$(STAMP): pyproject.toml lab/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]" --editable "lab[peers,pde]"
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
