# SPDX-License-Identifier: GPL-3.0-or-later
# Builds, checks and installs stallcast.  `make help` lists the targets.
#
#   make CC=clang BUILD=build/clang      another compiler, another tree
#   make CFLAGS='-O3 -march=native'      other optimisation; the rest stays
#   make V=1                             show the commands
#
# model/ -> libstallcast.a, calibrate/ -> libcalibrate.a, cli/ -> stallcast.
# Each layer sees the headers of the layers below it and no others.

VERSION = 0.1.0

BUILD ?= build
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g
FUZZ_SECONDS ?= 60
FUZZ_CC ?= clang
BUILD_CC ?= $(CC)
PKG_CONFIG ?= pkg-config
JOBS = $(shell nproc)

MODULES = gsl libpcre2-8 jansson expat
PACKAGES = build-essential pkg-config libgsl-dev libpcre2-dev libcsv-dev libjansson-dev libexpat1-dev \
           gnuplot-nox perl
PAPER_PACKAGES = latexmk texlive-latex-recommended texlive-fonts-recommended gnuplot-nox
SHEET_PACKAGES = libreoffice-calc-nogui
ANALYZERS = clang-tidy cppcheck

MAKEFLAGS += --no-print-directory --no-builtin-rules
.DEFAULT_GOAL = all
.DELETE_ON_ERROR:

# Flags -----------------------------------------------------------------------

WARNINGS = -pedantic -Wall -Wextra -Wshadow -Wconversion -Wdouble-promotion -Wstrict-prototypes \
           -Wmissing-prototypes -Wvla -Wformat=2 -Wswitch-enum -Werror
LANGUAGE = -std=c17 -D_POSIX_C_SOURCE=200809L -DSC_VERSION='"$(VERSION)"'
# Same seed, same bytes: the compiler may not fuse, reorder or approximate.
ARITHMETIC = -ffp-contract=off -fno-math-errno

ifneq ($(filter -ffast-math -Ofast,$(CFLAGS)),)
$(error CFLAGS: $(filter -ffast-math -Ofast,$(CFLAGS)) would change the results)
endif

INCLUDES_model = -iquote model
INCLUDES_calibrate = $(INCLUDES_model) -iquote calibrate
INCLUDES_cli = $(INCLUDES_calibrate) -iquote cli
INCLUDES_tests = $(INCLUDES_cli) -iquote tests

# Asked for when first needed: with `make deps all` that is after the install.
MODULE_CFLAGS = $(eval MODULE_CFLAGS := $$(call ask_pkg_config,--cflags))$(MODULE_CFLAGS)
MODULE_LIBS = $(eval MODULE_LIBS := $$(call ask_pkg_config,--libs))$(MODULE_LIBS)
ask_pkg_config = $(if $(shell $(PKG_CONFIG) --exists $(MODULES) && echo yes),$(shell \
    $(PKG_CONFIG) $1 $(MODULES)),$(error $(MODULES): not all found by pkg-config; try `make deps`))
MODULES_model =
MODULES_calibrate = $(MODULE_CFLAGS)
MODULES_cli = $(MODULE_CFLAGS)
MODULES_tests = $(MODULE_CFLAGS)

# $(call flags_of,FILE.c): what the layer of that file is compiled with.
flags_of = $(LANGUAGE) $(INCLUDES_$(call layer_of,$1)) $(MODULES_$(call layer_of,$1)) $(CPPFLAGS)
layer_of = $(firstword $(subst /, ,$1))
compile = $(CC) $(flags_of) $(WARNINGS) $(CFLAGS) $(ARITHMETIC) -pthread -MMD -MP -c -o $@ $<
link = $(CC) $(CFLAGS) -pthread $(LDFLAGS) -Wl,--as-needed -o $@ $1 $(LIBS)
LIBS = $(MODULE_LIBS) -lcsv -lm

# Sources ---------------------------------------------------------------------

sources = $(sort $(foreach folder,$1,$(wildcard $(folder)/*.c)))
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$1)

MODEL_SOURCES := $(call sources,model)
CALIBRATE_SOURCES := $(call sources,calibrate calibrate/*)
CLI_SOURCES := $(filter-out cli/embed.c,$(call sources,cli))
TEST_SOURCES := $(call sources,tests)
UNIT_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%.t,$(filter tests/t_%,$(TEST_SOURCES)))
FUZZERS := $(patsubst tests/%.c,$(BUILD)/%,$(filter tests/fuzz_%,$(TEST_SOURCES)))
BENCHES := $(patsubst tests/%.c,$(BUILD)/%,$(filter tests/bench_%,$(TEST_SOURCES)))
CLI_TESTS := $(sort $(wildcard tests/cli/*.t))
DATA := $(sort $(wildcard data/*.csv data/*/*.csv))
PLOTS := $(sort $(wildcard plots/*.gp))
COMPLETIONS := $(sort $(wildcard $(addprefix cli/stallcast.,bash fish zsh)))
PUBLIC_HEADERS := $(filter-out %_private.h,$(sort $(wildcard model/*.h)))

MODEL_LIB = $(BUILD)/libstallcast.a
CALIBRATE_LIB = $(BUILD)/libcalibrate.a
CLI_LIB = $(BUILD)/libcli.a
LAYERS = $(CLI_LIB) $(CALIBRATE_LIB) $(MODEL_LIB)
PROGRAM = $(BUILD)/stallcast
MAIN_OBJECT = $(BUILD)/obj/cli/main.o
EMBEDDED_OBJECT = $(BUILD)/obj/cli/embedded.o
TEST_OBJECTS = $(call objects,$(filter-out tests/t_% tests/fuzz_% tests/bench_%,$(TEST_SOURCES)))

# Building --------------------------------------------------------------------

ifdef V
say = :
else
.SILENT:
say = echo
endif

all: $(PROGRAM) $(MODEL_LIB) ## the program and the library (default)

$(PROGRAM): $(MAIN_OBJECT) $(LAYERS)
	$(say) '  LINK  $@'
	$(call link,$^)

$(MODEL_LIB): $(call objects,$(MODEL_SOURCES))
$(CALIBRATE_LIB): $(call objects,$(CALIBRATE_SOURCES))
$(CLI_LIB): $(filter-out $(MAIN_OBJECT),$(call objects,$(CLI_SOURCES))) $(EMBEDDED_OBJECT)
$(LAYERS): $(BUILD)/sources
	$(say) '  AR    $@'
	rm -f $@
	$(AR) rcs $@ $(filter %.o,$^)

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	mkdir -p $(@D)
	$(say) '  CC    $<'
	$(call compile,$<)

# Data files and the scripts of figures and shells, as they are, in the program.
$(EMBEDDED_OBJECT): $(BUILD)/embedded.c $(BUILD)/flags
	mkdir -p $(@D)
	$(say) '  CC    $<'
	$(call compile,cli/embedded.c)

$(BUILD)/embedded.c: $(BUILD)/embed $(COMPLETIONS) $(PLOTS) $(DATA) $(BUILD)/sources
	$(say) '  EMBED $@'
	cd data && $(abspath $<) $(abspath $@) $(COMPLETIONS:%=../%) $(PLOTS:%=../%) $(DATA:data/%=%)

$(BUILD)/embed: cli/embed.c $(BUILD)/flags
	$(say) '  CC    $<'
	$(BUILD_CC) $(LANGUAGE) $(WARNINGS) -O1 -o $@ $<

$(UNIT_TESTS): $(BUILD)/tests/%.t: $(BUILD)/obj/tests/%.o $(TEST_OBJECTS) $(LAYERS)
	mkdir -p $(@D)
	$(say) '  LINK  $@'
	$(call link,$^)

$(FUZZERS): $(BUILD)/fuzz_%: $(BUILD)/obj/tests/fuzz_%.o $(LAYERS)
	$(say) '  LINK  $@'
	$(call link,$^) $(FUZZ_LDFLAGS)

$(BENCHES): $(BUILD)/bench_%: $(BUILD)/obj/tests/bench_%.o $(TEST_OBJECTS) $(LAYERS)
	$(say) '  LINK  $@'
	$(call link,$^)

# Two files that change with the flags and with the set of sources, so that
# what was built otherwise is built again.
$(BUILD)/flags: WANTED = $(foreach layer,model calibrate cli tests,$(call flags_of,$(layer))) \
    $(BUILD_CC) $(CC) $(WARNINGS) $(CFLAGS) $(ARITHMETIC) $(LDFLAGS)
$(BUILD)/sources: WANTED = $(MODEL_SOURCES) $(CALIBRATE_SOURCES) $(CLI_SOURCES) $(COMPLETIONS) \
    $(PLOTS) $(DATA)
$(BUILD)/flags $(BUILD)/sources: always
	mkdir -p $(@D)
	printf '%s\n' '$(subst ','\'',$(WANTED))' | cmp -s - $@ || \
	    printf '%s\n' '$(subst ','\'',$(WANTED))' > $@

# `make clean all` and `make deps check` do one after the other, with -j too.
$(BUILD)/flags $(BUILD)/sources asan tsan analyze fuzz dist: | $(filter clean deps,$(MAKECMDGOALS))
deps-paper deps-sheets: | $(filter deps,$(MAKECMDGOALS))
$(PAPERS:paper/%.tex=$(BUILD)/paper/%.pdf): | $(filter deps-paper,$(MAKECMDGOALS))
ifneq ($(filter clean,$(MAKECMDGOALS)),)
deps deps-paper deps-sheets: | clean
endif

-include $(patsubst %.o,%.d,$(EMBEDDED_OBJECT) $(call objects,$(MODEL_SOURCES) \
    $(CALIBRATE_SOURCES) $(CLI_SOURCES) $(TEST_SOURCES)))

deps: ## install the Debian packages that are missing (asks sudo)
deps-paper: ## likewise those that the paper needs
deps-paper: PACKAGES = $(PAPER_PACKAGES)
deps-sheets: ## likewise LibreOffice (300 MB), with which tests/cli/sheets.t opens answers
deps-sheets: PACKAGES = $(SHEET_PACKAGES)
deps deps-paper deps-sheets:
	missing=; \
	if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then \
	    echo '$@: not a Debian system; please install: $(PACKAGES)' >&2; exit 1; \
	fi; \
	for package in $(PACKAGES); do \
	    case $$(dpkg-query -W -f='$${Status}' "$$package" 2>/dev/null) in \
	    *' ok installed') ;; \
	    *) missing="$$missing $$package" ;; \
	    esac; \
	done; \
	if [ -z "$$missing" ]; then echo '$@: everything is installed'; exit 0; fi; \
	root=; \
	if [ "$$(id -u)" -ne 0 ]; then \
	    root=sudo; \
	    if ! command -v sudo >/dev/null; then \
	        echo "$@: neither root nor sudo; please install:$$missing" >&2; exit 1; \
	    fi; \
	fi; \
	echo '$@: updating the package lists'; \
	$$root apt-get -qq update || exit 1; \
	echo "$@: installing$$missing"; \
	$$root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
	    install $$missing >/dev/null

demo: all ## build, then show what the program does in a few commands
	set -e; \
	run() { printf '\n$$ stallcast %s\n' "$$*"; $(PROGRAM) "$$@"; }; \
	run validate hbf; \
	run estimate hbf model=@slipstream7 policy=ideal,on-demand,h3,slipstream; \
	run rank uvm gpu=a40 app=k-means memory_capacity=16GiB footprint=24GiB; \
	run simulate hbf model=llama-8b policy=ideal,on-demand,h3,slipstream

# Checking --------------------------------------------------------------------

check: all $(UNIT_TESTS) ## build and run every test
	STALLCAST='$(abspath $(PROGRAM))' prove -j$(JOBS) $(UNIT_TESTS) $(CLI_TESTS)

SANITIZE = -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all

asan: ## the same tests with address and undefined-behaviour sanitizers
	ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1:$$ASAN_OPTIONS \
	UBSAN_OPTIONS=print_stacktrace=1:$$UBSAN_OPTIONS \
	$(MAKE) BUILD=$(BUILD)/asan CFLAGS='$(SANITIZE) -fsanitize=address,undefined' check

tsan: ## the same tests with the thread sanitizer
	TSAN_OPTIONS=halt_on_error=1:$$TSAN_OPTIONS \
	$(MAKE) BUILD=$(BUILD)/tsan CFLAGS='$(SANITIZE) -fsanitize=thread' check

# gcc 12 loses pointers that are stored in arrays; clang-analyzer and asan look for leaks.
# cppcheck takes an attribute after a pointer to a function for a syntax error.
ANALYZE = -O2 -g -fanalyzer -Wno-analyzer-malloc-leak
analyze: ## clang-tidy, cppcheck and gcc -fanalyzer
	for tool in $(ANALYZERS); do \
	    command -v $$tool >/dev/null || \
	        { echo "analyze: no $$tool; needs the packages $(ANALYZERS)" >&2; exit 1; }; \
	done
	$(MAKE) BUILD=$(BUILD)/analyze CC=gcc CFLAGS='$(ANALYZE)' tidy
	$(say) '  CPPCHECK'
	cppcheck --quiet --std=c11 --language=c --error-exitcode=1 --inline-suppr -j$(JOBS) \
	    --enable=warning,performance,portability --suppress=missingIncludeSystem \
	    -Imodel -Icalibrate -Icli -D_POSIX_C_SOURCE=200809L -DSC_VERSION='"$(VERSION)"' \
	    -D'__attribute__(x)=' model calibrate cli
	echo 'analyze: nothing found'

# An object first, whose warnings are errors, then clang-tidy on its source.
TIDIED := $(patsubst %.c,$(BUILD)/%.tidy,$(MODEL_SOURCES) $(CALIBRATE_SOURCES) $(CLI_SOURCES) \
    cli/embed.c)
tidy: $(TIDIED)
$(TIDIED): $(BUILD)/%.tidy: %.c $(BUILD)/obj/%.o .clang-tidy
	mkdir -p $(@D)
	$(say) '  TIDY  $<'
	clang-tidy --quiet $< -- $(call flags_of,$<) 2>$@.log || { cat $@.log >&2; exit 1; }
	touch $@

fuzz: ## each fuzz target for FUZZ_SECONDS (60); needs clang
	$(MAKE) BUILD=$(BUILD)/fuzz CC=$(FUZZ_CC) FUZZ_LDFLAGS=-fsanitize=fuzzer \
	    CFLAGS='$(SANITIZE) -fsanitize=address,undefined,fuzzer-no-link' fuzz-run

# New inputs go to the build tree; tests/corpus/NAME holds those worth keeping.
fuzz-run: $(FUZZERS)
	set -e; for fuzzer in $(FUZZERS); do \
	    name=$${fuzzer##*/fuzz_}; kept=tests/corpus/$$name; \
	    mkdir -p $(BUILD)/corpus/$$name; \
	    [ -d $$kept ] || kept=; \
	    echo "  FUZZ  $$name, $(FUZZ_SECONDS) s"; \
	    $$fuzzer -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 \
	        -artifact_prefix=$(BUILD)/$$name- $(BUILD)/corpus/$$name $$kept; \
	done

bench: all $(BENCHES) ## how fast it answers
	sh tests/bench.sh $(BUILD)

# Calibrations that come with the program: the same samples give the same files.
calibration: $(PROGRAM) ## make data/params/ anew (some minutes)
	mkdir -p data/params
	$(PROGRAM) calibrate hbf --samples 12000 --seed 1 -o data/params/hbf.csv
	$(PROGRAM) calibrate stream --samples 1000 --seed 1 -o data/params/stream.csv
	$(PROGRAM) calibrate uvm pattern=all --samples 6000 --seed 1 -o data/params/uvm.csv
	$(PROGRAM) calibrate prefetch --samples 4000 --seed 1 -o data/params/prefetch.csv
	rm -f data/params/*.runs

PLAN = data/examples/plan.fods
plan: $(PROGRAM) ## answer the scenarios of PLAN (data/examples/plan.fods), in place
	STALLCAST='$(abspath $(PROGRAM))' perl data/examples/answer_plan.pl '$(PLAN)' \
	    --columns slowdown,slowdown_lo,slowdown_hi,time_s,bound

# Figures and paper -----------------------------------------------------------

# Figures of the papers; the others are drawn by commands of their own.
FIGURES := $(filter-out style mrc compare-parity solve-pareto sensitivity-tornado, \
    $(PLOTS:plots/%.gp=%))
PAPERS := $(sort $(wildcard paper/*.tex))

plots: all ## every figure, into the build tree
	$(if $(FIGURES),,echo 'plots: there is no figure in plots/')
	mkdir -p $(BUILD)/plots
	set -e; for figure in $(FIGURES); do \
	    echo "  PLOT  $$figure"; \
	    $(PROGRAM) plot $$figure -o $(BUILD)/plots/$$figure.svg; \
	done

# The text asks for its numbers (numbers.sh) and, by name, for figures; one that cannot be
# drawn leaves a box in its place.
PAPER = $(BUILD)/paper
PAPER_FIGURES := $(filter $(FIGURES) solve-pareto sensitivity-tornado,$(shell sed -n 's/^\\plotted{\([a-z0-9-]*\)}.*/\1/p' \
    $(PAPERS) /dev/null))
PAPER_INPUTS = $(abspath $(PAPER)):$(abspath $(BUILD)/plots):

paper: $(PAPERS:paper/%.tex=$(PAPER)/%.pdf) ## the paper as PDF, into the build tree (see deps-paper)
	$(if $(PAPERS),,echo 'paper: there is no text in paper/')

$(PAPER)/%.pdf: paper/%.tex $(PAPER)/numbers.tex $(PAPER_FIGURES:%=$(BUILD)/plots/%.pdf)
	command -v latexmk >/dev/null || { echo 'paper: no latexmk; try `make deps-paper`' >&2; exit 1; }
	$(say) '  LATEX $@'
	TEXINPUTS='$(PAPER_INPUTS)' latexmk -g -cd -pdf -silent -interaction=nonstopmode \
	    -halt-on-error -file-line-error -outdir='$(abspath $(PAPER))' $< > $(PAPER)/messages 2>&1 || \
	    { cat $(PAPER)/messages; grep -A 5 '^[^ ]*:[0-9]*: ' $(@:.pdf=.log); exit 1; } >&2

$(PAPER)/numbers.tex: paper/numbers.sh $(PROGRAM) $(BUILD)/tests/t_uvm_fit.t $(BUILD)/tests/t_tune.t
	mkdir -p $(@D)
	$(say) '  ASK   $@'
	sh $< '$(abspath $(PROGRAM))' $(@D) '$(abspath $(BUILD))/tests/t_uvm_fit.t' \
	    '$(abspath $(BUILD))/tests/t_tune.t' \
	    $(filter data/params/hbf.csv,$(DATA))

# Figures of other commands than plot.
PLANNED = hbf model=llama-70b policy=slipstream
$(BUILD)/plots/solve-pareto.pdf: plots/solve-pareto.gp plots/style.gp $(PROGRAM)
	mkdir -p $(@D)
	$(say) '  PLOT  $@'
	$(PROGRAM) solve $(PLANNED) --find buffer --find hbf_bandwidth --range buffer=6MB:64MB \
	    --until 'time_s <= 150ms' --minimize 'buffer_area_mm2 + 20 * hbf_bandwidth_TB_per_s' \
	    --plot $@ > $(@:.pdf=.txt) 2>&1 || { cat $(@:.pdf=.txt) >&2; rm -f $@; }

$(BUILD)/plots/sensitivity-tornado.pdf: plots/sensitivity-tornado.gp plots/style.gp $(PROGRAM)
	mkdir -p $(@D)
	$(say) '  PLOT  $@'
	$(PROGRAM) sensitivity $(PLANNED) buffer=16MB --plot $@ > $(@:.pdf=.txt) 2>&1 || \
	    { cat $(@:.pdf=.txt) >&2; rm -f $@; }

$(BUILD)/plots/%.pdf: plots/%.gp plots/style.gp $(PROGRAM)
	mkdir -p $(@D)
	$(say) '  PLOT  $@'
	$(PROGRAM) plot $* -o $@ || { rm -f $@; echo 'paper: without the figure $*' >&2; }

# Installing ------------------------------------------------------------------

BINDIR = $(PREFIX)/bin
LIBDIR = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
DATADIR = $(PREFIX)/share
BASH_COMPLETION = $(DATADIR)/bash-completion/completions/stallcast
FISH_COMPLETION = $(DATADIR)/fish/vendor_completions.d/stallcast.fish
ZSH_COMPLETION = $(DATADIR)/zsh/site-functions/_stallcast
# Each command is a file that defines its row.
COMMANDS := $(sort $(shell sed -n 's/^const struct command command_\([a-z_]*\) = {$$/\1/p' \
    $(CLI_SOURCES)))
MANUALS = $(BUILD)/man/stallcast.1 $(COMMANDS:%=$(BUILD)/man/stallcast-%.1)
INSTALLED = $(BINDIR)/stallcast $(LIBDIR)/libstallcast.a $(LIBDIR)/pkgconfig/stallcast.pc \
    $(PUBLIC_HEADERS:model/%=$(INCLUDEDIR)/stallcast/%) $(DATA:%=$(DATADIR)/stallcast/%) \
    $(MANUALS:$(BUILD)/man/%=$(DATADIR)/man/man1/%) $(BASH_COMPLETION) $(FISH_COMPLETION) \
    $(ZSH_COMPLETION)
OWN_FOLDERS = '$(DESTDIR)$(INCLUDEDIR)/stallcast' '$(DESTDIR)$(DATADIR)/stallcast'

$(MANUALS): $(PROGRAM)
	mkdir -p $(@D)
	$(say) '  MAN   $@'
	$(PROGRAM) --manual $(patsubst stallcast-%,%,$(filter stallcast-%,$(basename $(@F)))) > $@

install: all $(MANUALS) ## install under PREFIX (/usr/local), below DESTDIR if given
	set -e; put() { install -D -m "$$1" "$$2" "$(DESTDIR)$$3"; }; \
	put 755 $(PROGRAM) '$(BINDIR)/stallcast'; \
	put 644 $(MODEL_LIB) '$(LIBDIR)/libstallcast.a'; \
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' cli/stallcast.pc.in \
	    > $(BUILD)/stallcast.pc; \
	put 644 $(BUILD)/stallcast.pc '$(LIBDIR)/pkgconfig/stallcast.pc'; \
	for file in $(PUBLIC_HEADERS:model/%=%); do \
	    put 644 "model/$$file" "$(INCLUDEDIR)/stallcast/$$file"; done; \
	for file in $(DATA); do put 644 "$$file" "$(DATADIR)/stallcast/$$file"; done; \
	for page in $(MANUALS); do put 644 "$$page" "$(DATADIR)/man/man1/$${page##*/}"; done; \
	put 644 cli/stallcast.bash '$(BASH_COMPLETION)'; \
	put 644 cli/stallcast.fish '$(FISH_COMPLETION)'; \
	put 644 cli/stallcast.zsh '$(ZSH_COMPLETION)'
	echo 'installed under $(DESTDIR)$(PREFIX)'

uninstall: ## remove what install put there
	rm -f $(foreach file,$(INSTALLED),'$(DESTDIR)$(file)')
	find $(OWN_FOLDERS) -type d -empty -delete 2>/dev/null || :
	echo 'removed from $(DESTDIR)$(PREFIX)'

dist: ## a source archive of the last commit, into the build tree
	git rev-parse -q --verify HEAD >/dev/null 2>&1 || \
	    { echo 'dist: needs a git checkout with a commit' >&2; exit 1; }
	mkdir -p $(BUILD)
	git archive --format=tar.gz --prefix=stallcast-$(VERSION)/ \
	    -o $(BUILD)/stallcast-$(VERSION).tar.gz HEAD
	echo '$(BUILD)/stallcast-$(VERSION).tar.gz'

clean: ## remove the build tree
	rm -rf $(BUILD)

FILES = $(wildcard model/*.[ch] calibrate/*.[ch] calibrate/*/*.[ch] cli/*.[ch] tests/*.[ch])
format: ## clang-format in place, on every C file or on FILES
	clang-format -i $(FILES)

help: ## this list
	awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: all always analyze asan bench calibration check clean demo deps deps-paper deps-sheets dist \
        format fuzz fuzz-run help install paper plan plots tidy tsan uninstall
