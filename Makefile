# What a user or a developer runs; `make help` lists it. Works with GNU make 3.81 and any POSIX shell.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV ?= .venv
PORT ?= 8080
TORCH_INDEX ?=
FULL ?=
UPGRADE ?=
WORKERS ?= logical

UV_VERSION := 0.13.8
TORCH := torch==2.13.0
comma := ,
# The demo: a fixed window, so that the second run finds the first one's stages.
DEMO := resume_screening_demo
WINDOW := "window_start": "2026-01-05T00:00:00+00:00", "window_end": "2026-01-12T00:00:00+00:00"
CONF := {$(WINDOW)$(if $(FULL),$(comma) "names_per_cell": 4)}
STATE := .audit
STORE := $(CURDIR)/$(STATE)/store$(if $(FULL),-full)

BIN := $(if $(filter /%,$(VENV)),,$(CURDIR)/)$(VENV)/bin
PY := "$(BIN)/python"
LOCKING = uv pip compile pyproject.toml --universal --python-version 3.11 --fork-strategy fewest \
	--generate-hashes --no-emit-package torch --group demo --custom-compile-command 'make lock' --quiet
# Bars on a terminal; a log gets one line a step.
QUIETLY = $$([ -t 2 ] || echo --quiet)
INSTALL = uv pip install --python $(PY) $(QUIETLY)
FIND_PYTHON = for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$p"; break; }; done
PYTHON ?= $(shell $(FIND_PYTHON))

# Without bytecode each Airflow process compiles every module again.
unexport PYTHONDONTWRITEBYTECODE
export UV_COMPILE_BYTECODE := 1
export PATH := $(BIN):$(PATH)
# Nothing reports home; no target but the installs needs a network.
export GX_ANALYTICS_ENABLED := false
export AIRFLOW__CORE__LOAD_EXAMPLES := False
export AIRFLOW__CORE__DAGS_FOLDER := $(CURDIR)/dags
export AIRFLOW__CORE__PLUGINS_FOLDER := $(CURDIR)/dags/plugins
export AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION := False

.PHONY: help audit serve test test-slow test-families wheel-test verify.pyz release lint studies bench bench-gpu lock install clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z.-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  variables: PYTHON, VENV=.venv, TORCH_INDEX=(pip index with the torch build you want), PORT=8080"

audit: $(STATE)/airflow/.ready ## run the demo audit under Airflow and print its tables (FULL=1: four names per cell)
	@echo "Running the DAG $(DEMO); its store is $(STORE)"
	@AIRFLOW_HOME="$(CURDIR)/$(STATE)/airflow" AUDIT_STORE="$(STORE)" AUDIT_RETRIES=0 AIRFLOW__LOGGING__LOGGING_LEVEL=CRITICAL \
		$(PY) tools/demo_stamps.py $(STATE)/stamps airflow dags test $(DEMO) --conf '$(CONF)' \
		|| { echo "The audit did not finish. Its completed stages are kept: fix the cause above and run it again."; exit 1; }
	@audit show $(DEMO) --store "$(STORE)"

serve: $(STATE)/serve/.ready ## run Airflow with the audits scheduled; prints its URL and login (PORT=8080)
	@AIRFLOW_HOME="$(CURDIR)/$(STATE)/serve" AUDIT_STORE="$${AUDIT_STORE:-$(STORE)}" PORT=$(PORT) $(PY) tools/serve.py

test: $(VENV)/.installed-dev ## install what the tests need, and run them (WORKERS=how many processes)
	@$(PY) -m pytest -n $(WORKERS) --maxprocesses 8 --dist loadfile --durations 40 --durations-min 1

test-slow: $(VENV)/.installed-dev ## run the tests that take more than a few seconds each, and hold costs at growing sizes together
	@$(PY) -m pytest -m slow
	@$(PY) -m benchmarks.scaling --check --rows 10000 100000 --runs 2

test-families: $(VENV)/.installed-dev ## hold every type of local model against its own attention (an hour; goes on where it was stopped)
	@AUDIT_FAMILIES="$${AUDIT_FAMILIES:-$(STATE)/families}" $(PY) -m pytest -m families tests/score/local/test_families.py

wheel-test: $(VENV)/.installed-dev ## build the wheel, install it alone, and audit with it
	@$(PY) tools/wheel_test.py

verify.pyz: ## pack the verifier that needs Python alone, and print its digest
	@$(PYTHON) tools/build_verifier.py $@

release: $(VENV)/.installed-dev ## put into dist/ what a release carries: the wheel, verify.pyz, and SHA256SUMS of both
	@rm -rf dist && mkdir dist
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) uv build --wheel --quiet --out-dir dist .
	@rm -f dist/.gitignore
	@$(PY) tools/build_verifier.py dist/verify.pyz > /dev/null
	@cd dist && { command -v sha256sum > /dev/null && sha256sum * || shasum -a 256 *; } > .sums && mv .sums SHA256SUMS && cat SHA256SUMS

lint: $(VENV)/.installed-dev ## ruff and mypy --strict
	@ruff check .
	@ruff format --check .
	@mypy

studies: $(VENV)/.installed-dev ## run the papers' designs and write docs/studies (half an hour; runs are kept)
	@$(PY) -m studies

bench: $(VENV)/.installed-dev ## measure the figures of the README
	@$(PY) -m benchmarks

bench-gpu: $(VENV)/.installed-dev ## measure local scoring on a CUDA GPU (80 GB; TORCH_INDEX=a CUDA build of torch)
	@$(PY) benchmarks/gpu.py

install: $(VENV)/.installed ## install into the virtual environment, without the test tools

lock: $(VENV)/bin/uv ## renew the locks from pyproject.toml; keeps the versions unless UPGRADE=1
	@$(LOCKING) --all-extras --group classifiers $(if $(UPGRADE),--upgrade) --output-file requirements-dev.lock
	@$(LOCKING) --extra airflow --extra celery --extra corpus --extra gx --extra http --extra kubernetes --extra local --extra openai --extra pdf --extra s3 --extra sign --extra text \
		--constraint requirements-dev.lock $(if $(UPGRADE),--upgrade) --output-file requirements.lock
	@{ echo "# Made by 'make lock': the locked versions without hashes, for plain pip -c."; \
		{ sed -nE 's/^([a-z0-9][^ ]*==[^ ]+)( ; [^\\]*[^ \\])?( *\\)?$$/\1\2/p' requirements-dev.lock; echo "$(TORCH)"; } \
		| LC_ALL=C sort; } > constraints.txt

clean: ## remove the virtual environment, caches, and Airflow's state; archived runs in .audit/store stay
	rm -rf $(VENV) .audit/airflow .audit/serve .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/uv:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; install it, or name it: make PYTHON=/path/to/python3"; exit 1; }
	@test -x $(PY) || "$(PYTHON)" -m venv "$(VENV)" \
		|| { rm -rf "$(VENV)"; echo "$(PYTHON) -m venv failed; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@$(PY) -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

# The lock first and torch last: so all but torch is checked against its hash, and torch, whose build
# depends on the machine, finds everything it shares with us in place.
$(VENV)/.installed: requirements.lock constraints.txt pyproject.toml | $(VENV)/bin/uv
	@echo "Installing into $(VENV): 1 of 3, $$(grep -c '^[a-z0-9].*==' requirements.lock) packages of the lock"
	@$(INSTALL) --no-deps --require-hashes -r requirements.lock
	@echo "Installing into $(VENV): 2 of 3, $(TORCH) (hundreds of megabytes; some gigabytes with CUDA)"
	@$(PY) -c 'from importlib.metadata import version; version("torch")' 2>/dev/null \
		|| $(PY) -m pip install $(QUIETLY) --disable-pip-version-check $(if $(TORCH_INDEX),--index-url "$(TORCH_INDEX)") -c constraints.txt $(TORCH)
	@echo "Installing into $(VENV): 3 of 3, audit_lib itself"
	@$(INSTALL) --no-deps -e .
	@touch $@

$(VENV)/.installed-dev: requirements-dev.lock $(VENV)/.installed
	@echo "Installing the test tools: $$(grep -c '^[a-z0-9].*==' requirements-dev.lock) packages, less those that are there"
	@$(INSTALL) --no-deps --require-hashes -r requirements-dev.lock
	@touch $@

# Airflow's own state: one for `make audit`, one for `make serve`, as a scheduler would get in the way.
$(STATE)/%/.ready: dags/pools.json $(VENV)/.installed
	@mkdir -p $(@D)
	@echo "Preparing Airflow in $(@D)"
	@AIRFLOW_HOME="$(CURDIR)/$(@D)" airflow db migrate > $(@D)/prepare.log 2>&1 \
		&& AIRFLOW_HOME="$(CURDIR)/$(@D)" airflow pools import dags/pools.json >> $(@D)/prepare.log 2>&1 \
		|| { cat $(@D)/prepare.log; exit 1; }
	@touch $@
