# make demo   the real model on real photos, then a swapped interpolation and what it prints
# make test   linters, types, layers, tests and the project's own suite (the fast lane)
# make test-full   the fast lane and everything slower
# make docs   the documentation as a site, in .site
#
# TORCH=system uses the torch that PYTHON already has, instead of installing the pinned one.

PYTHON ?= python3
TORCH ?= pinned

ifeq ($(TORCH),system)
VENV ?= .venv-system
VENV_FLAGS := --system-site-packages
TORCH_REQUIREMENTS :=
# An older torch has no torch.export and no exporter on top of it, and works with an older numpy than ONNX.
DEMO_CASES := -k "reference or batch or channels or half or device"
else
VENV ?= .venv
VENV_FLAGS :=
TORCH_REQUIREMENTS := -r requirements/torch.txt -r requirements/onnx.txt
DEMO_CASES := -m "not full and not elsewhere"
endif

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
INPUTS := pyproject.toml pytest_modelreg/__init__.py $(wildcard requirements/*.txt)

# The suite's `torch-1.13` runs in the system's Python: Debian's torch, 660 MB, installed where it is not there.
SYSTEM_PYTHON := /usr/bin/python3
SYSTEM_TORCH := python3-torch python3-torchvision python3-venv
# The HTML report is opened in a real browser: Debian's Chromium, installed where there is none.
BROWSERS := chromium chromium-browser chromium-headless-shell google-chrome
BROWSER = $(or $(CHROMIUM),$(firstword $(foreach name,$(BROWSERS),$(shell command -v $(name)))))
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: demo test test-full lint docs clean

demo: $(VENV)/.ready-demo
	$(BIN)/python -m pytest --modelreg modelreg.yaml $(DEMO_CASES)
	$(BIN)/python examples/swap_interpolation.py

test: $(VENV)/.ready-test lint
	$(BIN)/python -m pytest --modelreg -n 2 -m "not full"

test-full: test $(VENV)/.ready-full .venv-system/.ready-demo
	$(BIN)/python -m pytest --modelreg -m full

lint: $(VENV)/.ready-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.ready-test
	$(BIN)/mkdocs build --strict

$(VENV)/.ready-venv:
	$(PYTHON) -c "import sys; sys.exit('the pinned requirements need Python 3.11 or newer, this is ' + sys.version.split()[0] + '; set PYTHON=') if sys.version_info < (3, 11) else None"
	$(PYTHON) -m venv $(VENV_FLAGS) $(VENV)
ifeq ($(TORCH),system)
	$(BIN)/python -c "import torch; print('torch', torch.__version__)"
endif
	touch $@

$(VENV)/.ready-demo: $(VENV)/.ready-venv $(INPUTS)
	$(PIP) $(TORCH_REQUIREMENTS) -r requirements/photos.txt -e .
	touch $@

ifneq ($(TORCH),system)
.venv-system/.ready-demo: $(INPUTS)
	$(SYSTEM_PYTHON) -c "import torch, torchvision" || \
		($(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends $(SYSTEM_TORCH))
	$(MAKE) TORCH=system PYTHON=$(SYSTEM_PYTHON) .venv-system/.ready-demo
endif

$(VENV)/.ready-test: $(VENV)/.ready-demo
	$(PIP) -r requirements/test.txt -r requirements/lint.txt -r requirements/docs.txt
	touch $@

$(VENV)/.ready-full: $(VENV)/.ready-test
	$(PIP) -r requirements/examples.txt
	$(PIP) --no-deps -r requirements/examples-no-deps.txt
	[ -n "$(BROWSER)" ] || \
		($(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends chromium)
	touch $@

clean:
	rm -rf .venv .venv-system .site .modelreg build dist *.egg-info
