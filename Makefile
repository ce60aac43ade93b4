# Every target is a command that a person could type; see scripts/.
.DEFAULT_GOAL := help
.PHONY: help setup needs build testbed testbed-test test soak bench demo lint fmt reference clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: ## Install missing system packages, or say which are missing
	@scripts/setup.sh test

# What everything but the tests needs.
needs:
	@scripts/setup.sh

build: needs ## Build the windlass binary (target/release/windlass)
	cargo build --release --locked -p windlass

testbed: needs ## Build the control plane for demo and tests, once; prints its folder
	@tests/testbed/build.sh

testbed-test: testbed ## Prove the control plane with the stock kubectl
	tests/testbed/prove.sh

test: setup ## Run all tests against the real control plane
	@scripts/test.sh

soak: setup ## Run all tests, and those that step through everything in full length (takes long)
	@WINDLASS_TEST_SOAK=1 scripts/test.sh

bench: needs ## Measure Windlass beside other tools; see docs/performance.md
	@scripts/bench.sh

demo: needs ## Deliver the example repository through every stage; KEEP=1 leaves the control plane running
	@scripts/demo.sh

lint: needs ## Formatting, clippy, dependency rules, documentation
	@scripts/lint.sh

fmt: ## Format everything
	cargo fmt
	gofmt -w tests/testbed tests/githost tests/bench/peers

reference: ## Write the generated pages of docs/reference again
	UPDATE_REFERENCE=1 cargo test -q -p windlass-settings -p windlass-report -p windlass reference

clean: ## Remove what was built here; the cached control plane stays
	rm -rf target .demo
