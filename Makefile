# `make test` and `make demo` need Python 3.11+ and make, nothing else. SAM lives in a venv of its own,
# because it holds click, boto3 and pydantic below ours.

PYTHON ?= python3
ARCH ?= arm64
RUNTIME ?= python3.13
BIN := .venv/bin
SAM := .venv-sam/bin/sam
PIP_INSTALL := pip install --quiet --disable-pip-version-check --no-deps
LOCK := uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11

.DEFAULT_GOAL := help
.PHONY: help test demo lint format lock build sam-setup clean build-SetpointFunction

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' Makefile

test: lint .venv-sam/.installed ## every check and every test
	@$(BIN)/pytest

demo: .venv/.installed ## the whole story on an embedded AWS, no account needed
	@$(BIN)/setpoint demo

lint: .venv/.installed ## style, types and layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: .venv/.installed ## bring the code into the one style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lock: ## renew the lock files (needs uv; add UPGRADE=--upgrade to move versions)
	@command -v uv >/dev/null || { echo "make lock needs uv: pip install uv" >&2; exit 1; }
	@$(LOCK) $(UPGRADE) --extra dev pyproject.toml -o requirements-dev.txt
	@$(LOCK) --group lambda -c requirements-dev.txt -o requirements-lambda.txt
	@$(LOCK) $(UPGRADE) --group sam -o requirements-sam.txt

build: .venv-sam/.installed ## the Lambda artifact: ARCH=arm64|x86_64 RUNTIME=python3.13
	@PYTHON=$(CURDIR)/.venv-sam/bin/python ARCH=$(ARCH) RUNTIME=$(RUNTIME) SAM_CLI_TELEMETRY=0 \
	$(SAM) build --parameter-overrides Architecture=$(ARCH) Runtime=$(RUNTIME)

sam-setup: .venv-sam/.installed ## SAM and the Lambda runtime client, in .venv-sam

clean: ## remove what make made
	@rm -rf .venv .venv-sam .aws-sam .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# `sam build` calls this one. SAM tells make neither the architecture nor the runtime: hence `make build`.
build-SetpointFunction:
	@ARCH=$(ARCH) RUNTIME=$(RUNTIME) PYTHON=$(PYTHON) .ci/build_artifact.sh "$(ARTIFACTS_DIR)"

.venv/.installed: requirements-dev.txt pyproject.toml
	@$(call make-venv,.venv)
	@$(BIN)/$(PIP_INSTALL) --require-hashes -r requirements-dev.txt
	@$(BIN)/$(PIP_INSTALL) --no-build-isolation -e .
	@touch $@

.venv-sam/.installed: requirements-sam.txt
	@$(call make-venv,.venv-sam)
	@.venv-sam/bin/$(PIP_INSTALL) --require-hashes -r requirements-sam.txt
	@touch $@

define make-venv
	command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not there: Setpoint needs Python 3.11 or newer." >&2; exit 1; }; \
	$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and \
	"Setpoint needs Python 3.11 or newer, and $(PYTHON) is %d.%d: try make PYTHON=python3.12" % v[:2])' && \
	echo "setting up $(1) ..." && $(PYTHON) -m venv $(1)
endef
