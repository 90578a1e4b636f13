# `make demo` and `make test` do all the set-up they need; PYTHON chooses the interpreter.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
LOGS ?= logs/demo
# progress every few seconds, and no scores: these are left to our table
PROGRESS := --display log --log-level info --no-score-display

.PHONY: demo demo-corda test lint env clean

demo: env
	$(BIN)/inspect eval moral_evals/morebench -T data=sample \
	  --model embedded/smollm2-135m --model-role grader=embedded/overlap-judge \
	  $(PROGRESS) --log-dir $(LOGS)
	@echo
	@$(BIN)/moral-reports show $(LOGS)
	@echo "Browse the run:  $(BIN)/inspect view --log-dir $(LOGS)"

# ten chains, since fewer have no interval worth showing
demo-corda: env
	$(BIN)/inspect eval moral_evals/corda -T chains=10 -T shuffles=1 -T elicit=none \
	  --model embedded/smollm2-135m $(PROGRESS) --log-dir $(LOGS)-corda
	@echo
	@$(BIN)/moral-reports show $(LOGS)-corda

test: env
	$(BIN)/python -m pytest -n auto

lint: env
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/inspect-evals-lint --all

env: $(VENV)/.ready

# No type checker follows the editable install's finder, hence a link with the package's name.
$(VENV)/.ready: pyproject.toml providers/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e ".[dev]"
	@rm -rf moral_evals.egg-info  # beside the root on sys.path it hides the package's name from Inspect
	$(BIN)/python -m moral_evals.providers install --quiet
	@mkdir -p $(VENV)/link && ln -sfn ../.. $(VENV)/link/moral_evals
	@touch $@

clean:
	rm -rf $(VENV) build dist
