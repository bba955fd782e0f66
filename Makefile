# snowflake: built with PGXS.
#
#   make                 the library; WERROR=1 turns warnings into errors
#   make install         installs it, and the pages of doc/ beside the server's pages
#   make installcheck    pg_regress and isolation tests, as any superuser, on a running server with
#                        shared_preload_libraries = 'snowflake' and max_prepared_transactions = 5
#   make prove_installcheck   TAP tests, with servers of their own, of the installed extension
#   make dist            the archive for PGXN, from HEAD
#
# For another server than the first in PATH: make PG_CONFIG=/path/to/pg_config

top := $(dir $(firstword $(MAKEFILE_LIST)))

EXTENSION = snowflake snowflake_convert
MODULE_big = snowflake
scripts = $(wildcard $(top)sql/snowflake--*.sql $(top)sql/snowflake_convert--*.sql)
DATA = $(patsubst $(top)%,%,$(scripts))
objects_of = $(patsubst $(top)%.cpp,%.o,$(sort $(wildcard $(addprefix $(top)src/,$(1)))))
OBJS = $(call objects_of,core/*.cpp pg/*.cpp pg/*/*.cpp)

# The library of the extension snowflake_convert: its own files, and some of src/pg without a state.
convert_library = snowflake_convert$(DLSUFFIX)
queries = src/convert/queries.h
convert_objects = $(call objects_of,convert/*.cpp) $(addprefix src/pg/,extension.o report.o security_context.o)

REGRESS = $(patsubst %.sql,%,$(notdir $(filter-out $(scripts),$(sort $(wildcard $(top)sql/*.sql)))))
ISOLATION = $(patsubst %.spec,%,$(notdir $(sort $(wildcard $(top)test/isolation/specs/*.spec))))
ISOLATION_OPTS = --inputdir=$(top)test/isolation

# -isystem, because warnings about the server's headers are not ours. -Wno-register, because old
# headers use `register`, which C++17 does not have.
PG_CPPFLAGS = -isystem $(includedir_server) -isystem $(libpq_srcdir) -I$(top)src -Isrc $(assertions)
# For a server with assertions, those of src/core, too.
assertions = $(if $(shell grep -h '^.define USE_ASSERT_CHECKING 1' $(includedir_server)/pg_config*.h),-DSNOWFLAKE_ASSERTIONS)
SHLIB_LINK_INTERNAL = $(libpq)
PG_CXXFLAGS = -std=gnu++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility=hidden \
	-Wall -Wextra -Wno-unused-parameter -Wno-register $(if $(WERROR),-Werror) -MMD -MP \
	-ffile-prefix-map=$(top)=

all_objects = $(sort $(OBJS) $(convert_objects))
EXTRA_CLEAN = $(all_objects:.o=.d) $(convert_objects) $(convert_library) $(queries) $(libraries_of_tests) $(libraries_of_tests:.so=.o) libcrypto.stamp output_iso

# No bitcode: the hot path is in a process's own state, which the JIT does not inline, and the build
# would need the same clang that built the server.
override with_llvm = no

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# PGXS uses the server's own folders and ignores prefix, unless the server is 18 or later and was
# built to be relocated by it.
ifeq ($(origin prefix)$(filter $(prefix)/%,$(datadir)),command line)
$(error prefix=$(prefix) would be ignored here; DESTDIR=, datadir= and pkglibdir= are not, see doc/installing.md)
endif

# libcrypto masks ids. LIBCRYPTO=no builds without it. The stamp is written only if this choice
# changes. Releases of GNU make differ in whether they remove a backslash before # in $(shell).
hash := \#
LIBCRYPTO ?= $(shell echo '$(hash)include <openssl/evp.h>' | $(CXX) $(CPPFLAGS) -E -x c++ - >/dev/null 2>&1 && echo yes)
libcrypto := $(filter-out no,$(LIBCRYPTO))
SHLIB_LINK += $(if $(libcrypto),-lcrypto)
src/pg/sql/mask.o: override CPPFLAGS += $(if $(libcrypto),-DSNOWFLAKE_WITH_LIBCRYPTO)
src/pg/sql/mask.o: libcrypto.stamp
$(shell (echo '$(libcrypto)' | cmp -s - libcrypto.stamp || echo '$(libcrypto)' >libcrypto.stamp) 2>/dev/null)
libcrypto.stamp: ;
ifeq ($(libcrypto),)
all: without-libcrypto
.PHONY: without-libcrypto
without-libcrypto:
	@echo "building without libcrypto: snowflake_mask() and snowflake_unmask() will raise an error"
endif

# PostgreSQL's -fwrapv defines signed overflow. The core has none: it is the same with and without
# it, and the unit tests, which UBSan watches, are compiled without it.
$(filter src/core/%,$(OBJS)): override CXXFLAGS += -fno-wrapv

# PGXS makes one library. This is the other one, linked in the same way.
all: $(convert_library)
install: install-convert
uninstall: uninstall-convert
$(convert_library): $(convert_objects)
	$(LINK.shared) -o $@ $(convert_objects) $(LDFLAGS) $(LDFLAGS_SL) $(BE_DLLLIBS)
.PHONY: install-convert uninstall-convert
install-convert: $(convert_library) | installdirs
	$(INSTALL_SHLIB) $(convert_library) '$(DESTDIR)$(pkglibdir)/'
uninstall-convert:
	rm -f '$(DESTDIR)$(pkglibdir)/$(convert_library)'

# The queries of conversions, as constants.
$(queries): $(wildcard $(top)src/convert/queries/*.sql) $(top)src/convert/queries.awk | $(folders)
	@awk -f $(top)src/convert/queries.awk $(sort $(filter %.sql,$^)) >$@.new
	@mv $@.new $@

# PGXS tracks no header dependencies, and the first build has none. A build outside the source tree needs the folders of its
# object files, by their full names, because VPATH would find those of the source.
folders = $(patsubst %/,%,$(sort $(dir $(addprefix $(CURDIR)/,$(all_objects)))))
$(all_objects): $(top)Makefile | $(folders)
$(convert_objects): | $(queries)
$(folders):
	$(MKDIR_P) $@
-include $(all_objects:.o=.d)

# The TAP tests of the default run (test/README.md), or those of PROVE_TESTS. Some load libraries of
# their own into the server. PGXS's recipe says so if the server was built without TAP tests.
libraries_of_tests = $(patsubst $(top)%.c,%.so,$(wildcard $(top)test/c/*.c $(top)test/clock/*.c))
.PHONY: test_libraries
test_libraries: $(libraries_of_tests)
PROVE_TESTS ?= $(shell cd $(top). && grep -L '^. Not in the default run: ' test/t/*/*.pl)
prove_installcheck: export PERL5LIB := test/perl:$(PERL5LIB)
prove_installcheck: export SNOWFLAKE_TEMPLATE = $(CURDIR)/tmp_check/template
prove_installcheck: export SNOWFLAKE_TEST_C = $(CURDIR)/test/c
prove_installcheck: export SNOWFLAKE_CLOCK_SHIM = $(CURDIR)/test/clock/clock_shim.so
prove_installcheck: export SNOWFLAKE_OLD_PG_CONFIG = $(PG_CONFIG)
.PHONY: prove_installcheck
prove_installcheck: test_libraries
	$(prove_installcheck)

# pgEdge's extension has the same name, library and file names: the two must not be mixed.
installed_control = $(DESTDIR)$(datadir)/extension/snowflake.control
install installdirs installdirs-lib: refuse-namesake
.PHONY: refuse-namesake
refuse-namesake:
	@if grep -qs '^schema *=' '$(installed_control)'; then \
	  echo "$(installed_control): another extension called snowflake is installed there," \
	    "pgEdge's it seems; remove it first" >&2; \
	  exit 1; \
	fi

# PGXS would put all DOCS into one folder, which would break the links between pages.
pages = $(patsubst $(top)%,%,$(wildcard $(addprefix $(top),README.md CHANGELOG.md LICENSE src/README.md test/README.md test/*/README.md test/bench/*.md test/bench/figures.svg \
	test/proof/runs/*.md doc/*.md doc/*/*)))
pages_folder = $(DESTDIR)$(docdir)/$(docmoduledir)/snowflake
install: install-pages
uninstall: uninstall-pages
.PHONY: install-pages uninstall-pages
install-pages: refuse-namesake
	@for page in $(pages); do \
	  $(MKDIR_P) "$$(dirname '$(pages_folder)'/$$page)" && $(INSTALL_DATA) '$(top)'$$page '$(pages_folder)'/$$page || exit; \
	done
uninstall-pages:
	rm -rf '$(pages_folder)'

# The first version in META.json is its own.
archive = snowflake-$(firstword $(shell sed -n 's/^ *"version": "\(.*\)".*/\1/p' $(top)META.json))

# git leaves an empty file if it fails.
.PHONY: dist
dist:
	@git -C $(top). archive --format=zip --prefix=$(archive)/ --output=$(CURDIR)/$(archive).zip.new HEAD || { \
	  rm -f $(archive).zip.new; \
	  echo "make dist makes the archive of what is committed: run it in a clone of the repository" >&2; \
	  exit 1; }
	mv $(archive).zip.new $(archive).zip

print-%:
	@echo $($*)
