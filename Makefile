# Each target does all of its own set-up: a virtual environment in .venv, and Debian packages where root allows.
BIN := .venv/bin
READY := .venv/.ready
COMPILED := .venv/.compiled
# The tests start hundreds of Pythons: where each had to compile racwire anew, that would be a tenth of their time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test coverage cases lint bench screenshots docs site lock wheels bundle clean

demo: $(READY)
	@sh .ci/packages
	@sh .ci/demo

# The tests, with a sample of the cases and walks on practice clusters.
test: $(READY) $(COMPILED)
	@sh .ci/packages
	@sh .ci/clients
	@# Three of the processes mostly wait for practice clusters. At the nice value at which racwire runs itself: else each
	@# racwire that a test starts waits for the tests.
	nice $(BIN)/pytest -n 6 --dist loadfile --no-loadscope-reorder

# The branch coverage of checks/ by the unit tests and the cases, and the files below 80 %. Apart from `make test`: measuring
# doubles what a line costs.
coverage: $(READY)
	-nice $(BIN)/pytest -n 3 --dist loadfile -q --cov --cov-report= tests/unit tests/cases
	@sh .ci/coverage

# Every case of the case book, on facts and on practice clusters, and every walk; `make test` runs a sample of the latter.
cases: $(READY)
	@sh .ci/packages
	nice $(BIN)/pytest -m "case or beyond_sample" --all-cases -n 2 --dist loadfile tests/cases tests/simulator tests/lab tests/lab_own tests/words tests/agreement tests/unit tests/tui

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	sh .ci/site

# The pages as a site in build/site, for a web server or a browser without the Internet.
site: $(READY)
	sh .ci/site
	@echo build/site/README.html

# Measures what racwire costs against what it may cost; no test. ARGS="--quick", ARGS="--only keys".
bench: $(READY)
	@sh .ci/packages
	@sh .ci/bench_packages
	@$(BIN)/python -m bench $(ARGS)

screenshots: $(READY)
	@sh .ci/packages
	@sh .ci/screenshot_packages
	$(BIN)/python screenshots/make.py

# Writes the pages of docs/ that are made from the source, and the outputs of the commands in all pages.
docs: $(READY)
	@sh .ci/packages
	$(BIN)/python -m docs.generate --outputs

# The wheels of racwire and its dependencies, for nodes without the Internet: PYTHON=3.12, MACHINE=aarch64, WHEELS=DIRECTORY.
PYTHON ?= 3.11
MACHINE ?= x86_64
WHEELS ?= racwire-wheels
wheels: $(READY)
	@sh .ci/wheels $(WHEELS) $(PYTHON) $(MACHINE)

# Pins every dependency by version and hash; needs uv (pip install uv).
# racwire and its own Python in one file, for nodes without Python or the Internet, in dist/; verified. BUNDLE_WORK=DIRECTORY.
bundle: $(READY)
	@sh bundle/build.sh

lock:
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
		--no-emit-index-url pyproject.toml -o requirements.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
		--no-emit-index-url --extra dev pyproject.toml lab/pyproject.toml -o requirements-dev.lock

$(READY): requirements-dev.lock pyproject.toml lab/pyproject.toml .ci/venv
	@sh .ci/venv
	@touch $@

$(COMPILED): $(READY) .ci/compiled
	@sh .ci/compiled
	@touch $@

clean:
	rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
