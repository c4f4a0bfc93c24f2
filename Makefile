# make run     everything on this machine, until Ctrl-C
# make test    quick tests        make check   lint, types, import contracts, licences
# make verify  slow tests         make lock    renew the lock files (needs uv)
# make real-model   turns through a real model server (its first build takes ten minutes or more)
# make faults  breaks a running Pageturn at every bad moment, prints a table (half an hour)
# make soak MINUTES=60   an installation under load, with a kill every minute

SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_WORKERS ?= 2
SETUP = $(PYTHON) -I ops/setup.py

.PHONY: run test check verify real-model faults soak migrate web lock install install-dev

run: install web
	@exec $(BIN)/pageturn up

install:
	@$(SETUP) run

install-dev:
	@$(SETUP) dev

web:
	@$(SETUP) web

migrate: install
	@$(BIN)/pageturn migrate

test: install-dev
	@$(BIN)/python -m pytest -n $(PYTEST_WORKERS) -m "not slow"

check: install-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m ops.licences
	@$(SETUP) web-script check

verify: install-dev web
	@$(BIN)/python -m pytest -m slow
	@$(SETUP) web-script test

real-model: install-dev
	@$(BIN)/python -m bench.real_model

MINUTES ?= 60

faults: install-dev
	@$(BIN)/python -m bench.faults

soak: install-dev web
	@$(BIN)/python -m bench.soak --minutes $(MINUTES)

LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-annotate --no-header

lock:
	printf 'setuptools>=84\nwheel\n' | $(LOCK) --extra embedded --extra local-embeddings \
		pyproject.toml - -o requirements.lock
	printf 'setuptools>=84\nwheel\n' | $(LOCK) --extra embedded --extra local-embeddings \
		--extra dev -c requirements.lock pyproject.toml - -o requirements-dev.lock
