# Two commands on a bare machine do everything: `make demo` and `make test`. Each installs what it needs.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

BIN := .venv/bin
READY := .venv/.ready
MEMBERS := shared webhook controllers devstack

ifneq ($(shell $(BIN)/python -c 'print("runs")' 2>/dev/null || true),runs)
.PHONY: $(READY) # made anew, too, where the interpreter that it was made of is gone
endif
$(READY): requirements.lock pyproject.toml $(MEMBERS:%=%/pyproject.toml) devstack/bootstrap.sh
	@sh devstack/bootstrap.sh

.PHONY: help
help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(READY) ## Bring up Kubernetes and Snowflake's endpoint, install Freehold, show what it does (KEEP=1 leaves it running)
	@$(BIN)/python -m freehold_devstack.demo

.PHONY: demo-down
demo-down: $(READY) ## End what `KEEP=1 make demo`, or a run that was killed, has left
	@$(BIN)/devstack down --name demo

.PHONY: test
test: $(READY) ## Unit, endpoint, integration and end-to-end tests
	$(BIN)/pytest tests/unit tests/endpoint tests/properties tests/model -n 2 -q
	$(BIN)/pytest tests/integration -n 2 --dist loadgroup -q
	$(BIN)/pytest tests/chaos -q
	$(BIN)/pytest tests/e2e -q

SHARD = 1/1

.PHONY: chaos
chaos: $(READY) ## Kill controllers at each of their requests (SHARD=i/n does a part), see where the next ones end
	@$(BIN)/python -m tests.chaos --shard $(SHARD)

SEED := $(shell date +%s)
MINUTES = 10
CASES = 1000000

.PHONY: soak
soak: $(READY) ## Let 500 resources live for MINUTES among people, strangers, faults and restarts (SEED=n repeats an earlier run)
	@$(BIN)/python -m tests.soak --minutes $(MINUTES) --seed $(SEED)

.PHONY: fuzz
fuzz: $(READY) ## 100,000 mangled requests to the webhook, CASES random specs (SEED=n repeats those of an earlier run)
	FUZZ_CASES=100000 FUZZ_SEED=$(SEED) $(BIN)/pytest tests/unit/webhook/test_fuzz.py -q --show-capture=no
	$(BIN)/python -m tests.properties --cases $(CASES) --seed $(SEED)

.PHONY: model
model: $(READY) ## Let users, strangers and faults loose on the reconciler 5,000 times (SEED=n repeats an earlier run)
	@echo SEED=$(SEED)
	MODEL_RUNS=5000 MODEL_SEED=$(SEED) $(BIN)/pytest tests/model -q

.PHONY: lint
lint: $(READY) ## Style, types, import rules, and whether what derives from declarations is up to date
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m freehold.generate --check
	$(BIN)/python -m freehold_controllers.reconciler.table --check

.PHONY: generate
generate: $(READY) ## Write what derives from declarations: CRDs, field reference, permissions, metrics, decisions
	@$(BIN)/python -m freehold.generate
	@$(BIN)/python -m freehold_controllers.reconciler.table

.PHONY: bench
bench: $(READY) ## Measure, by counts and by ratios within one run
	@for name in $$(ls benchmarks/*.py | grep -v __init__ | xargs -n1 basename -s .py); do $(BIN)/python -m benchmarks.$$name || exit 1; done

LOCK := requirements.lock
UPGRADE := --upgrade

.PHONY: lock
lock: $(READY) ## Resolve the dependencies anew into requirements.lock
	$(BIN)/uv pip compile --quiet $(UPGRADE) --universal --generate-hashes --no-header --no-annotate --python-version 3.11 \
	    $(foreach name,freehold freehold-webhook freehold-controllers freehold-devstack,--no-emit-package $(name)) \
	    --output-file $(LOCK) $(MEMBERS:%=%/pyproject.toml) --group pyproject.toml:dev --all-extras
