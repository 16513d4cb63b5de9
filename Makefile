# `make test` and `make demo` need Python 3.11+ and make, nothing else. SAM lives in a venv of its own,
# because it holds click, boto3 and pydantic below ours.

PYTHON ?= python3
ARCH ?= arm64
RUNTIME ?= python3.13
BENCH_PYTHON ?= $(shell python3.13 -c '' 2>/dev/null && echo python3.13 || echo $(PYTHON))
BIN := .venv/bin
SAM := .venv-sam/bin/sam
PIP_INSTALL := pip install --quiet --disable-pip-version-check --no-deps
LOCK := uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --python-version 3.11

.DEFAULT_GOAL := help
.PHONY: help test sweep demo lint format lock build sam-setup clean build-SetpointFunction bench bench-quick bench-setup

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' Makefile

test: lint .venv-sam/.installed ## every check and every test
	@$(BIN)/pytest

sweep: .venv/.installed ## every scenario, call, fault and weather, and pairs of faults (half an hour); SWEEP="NAME ..." for some
	@$(BIN)/python -m tests.sweep $(SWEEP)

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
	@for one in bench/requirements/*.in; do \
	  $(LOCK) $(UPGRADE) $$one -o requirements-$$(basename $$one .in).txt; done

build: .venv-sam/.installed ## the Lambda artifact: ARCH=arm64|x86_64 RUNTIME=python3.13
	@PYTHON=$(CURDIR)/.venv-sam/bin/python ARCH=$(ARCH) RUNTIME=$(RUNTIME) SAM_CLI_TELEMETRY=0 \
	$(SAM) build --parameter-overrides Architecture=$(ARCH) Runtime=$(RUNTIME)

sam-setup: .venv-sam/.installed ## SAM and the Lambda runtime client, in .venv-sam

# The measurements: everything they need is in .bench, a folder that ignores itself.
bench: bench-setup ## measure Setpoint beside other tools (half an hour), and write docs/performance.md
	@.bench/emulator/bin/python -m bench $(BENCH)

bench-quick: bench-setup ## the same over small worlds (minutes): to see that it works
	@.bench/emulator/bin/python -m bench --quick $(BENCH)

bench-setup: .bench/emulator/.installed .bench/ministack/.installed .bench/sdk/.installed \
             .bench/custodian/.installed .venv-sam/.installed
	@rm -rf .bench/artifact
	@env -u PYTHONDONTWRITEBYTECODE ARCH=$(subst aarch64,arm64,$(shell uname -m)) PYTHON=$(CURDIR)/.bench/sdk/bin/python \
	RUNTIME=$$(.bench/sdk/bin/python -c 'import sys; print("python%d.%d" % sys.version_info[:2])') \
	.ci/build_artifact.sh .bench/artifact

clean: ## remove what make made
	@rm -rf .venv .venv-sam .bench .aws-sam .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

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

.bench/emulator/.installed: requirements-bench.txt
.bench/ministack/.installed: requirements-bench-ministack.txt
.bench/custodian/.installed: requirements-bench-custodian.txt
.bench/sdk/.installed: requirements-lambda.txt

# All alike: one interpreter, locked packages, and byte code that is never checked against its source.
.bench/%/.installed: PYTHON := $(BENCH_PYTHON)
.bench/%/.installed:
	@mkdir -p .bench && echo '*' >.bench/.gitignore
	@$(call make-venv,.bench/$*)
	@.bench/$*/bin/$(PIP_INSTALL) --no-compile --require-hashes -r $<
	@env -u PYTHONDONTWRITEBYTECODE .bench/$*/bin/python -m compileall -q --invalidation-mode unchecked-hash .bench/$*/lib || true
	@touch $@

define make-venv
	command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not there: Setpoint needs Python 3.11 or newer." >&2; exit 1; }; \
	$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and \
	"Setpoint needs Python 3.11 or newer, and $(PYTHON) is %d.%d: try make PYTHON=python3.12" % v[:2])' && \
	echo "setting up $(1) ..." && $(PYTHON) -m venv $(1)
endef
