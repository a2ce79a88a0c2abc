#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rules of the house that a program can check: check.sh RULE SOURCE BUILD [ICEPATH]. Prints each violation; 0 if
# there is none. ICEPATH is the build's program unless it is given.
set -eu
rule=$1 source=$2 build=$3 icepath=${4:-$3/bin/icepath}
cd "$source"

# Tracked files and new ones; without git (an unpacked archive), everything that isn't made by a build or a run.
files() {
	{
		git -c safe.directory='*' ls-files --cached --others --exclude-standard 2>/dev/null ||
			find . -type f -not -path './build*' -not -path './results/*-*/*' -not -path './.git/*' | sed 's,^\./,,'
	} | while read -r file; do [ ! -f "$file" ] || echo "$file"; done
}

# Each SPDX line is near the top and names the licence of its folder: what runs in the kernel is dual-licensed.
spdx() {
	files | while read -r file; do
		case $file in
		# Texts of licences, and data without comments.
		LICENSES/* | *.json | *.svg | *.png | *.icp | *.folded | *.csv | tests/fuzz/corpus/*) continue ;;
		ebpf/CMakeLists.txt) licence=Apache-2.0 ;;
		ebpf/* | *.bpf.c) licence='GPL-2.0-only OR BSD-2-Clause' ;;
		*) licence=Apache-2.0 ;;
		esac
		head -n 5 "$file" | grep -q -E "SPDX-License-Identifier: $licence *(-->|\*/|)\$" ||
			echo "$file: no line 'SPDX-License-Identifier: $licence'"
	done
}

# A name says what the file holds, and it alone has that name.
names() {
	files | grep -E '(^|/)(utils?|commons?|helpers|misc)(\.[^/]*|/.*)?$' |
		sed 's/$/: its name says nothing of what it does/' || true
	files | grep -E '^(profiler|cpuset|plugin_kit|ebpf)/.*\.h$' |
		awk -F / '{ if ($NF in first) print $0 ": has the name of " first[$NF]; else first[$NF] = $0 }'
}

# What is longer is two things. tests/house/sizes.sh prints how large files are.
sizes() {
	files | grep -E '\.(h|c|cc)$' | while read -r file; do
		lines=$(wc -l <"$file")
		[ "$lines" -le 500 ] || echo "$file: $lines lines, where 500 are the most"
	done
}

# No line has more than 120 columns; a tab has four. Data have no such limit, and what can't be broken in Markdown:
# tables, output of programs, and links' addresses, which don't count.
columns() {
	files | grep -v -E '^(results/[^R]|LICENSES/|tests/fuzz/corpus/)|\.(json|svg|png|icp|folded|csv)$' \
		>"$build/columns.files"
	{
		grep -v '\.md$' "$build/columns.files" | xargs env LC_ALL=C.UTF-8 \
			sed -n -s 's/\t/    /g; /^.\{121\}/{ F; =; }'
		grep '\.md$' "$build/columns.files" | xargs env LC_ALL=C.UTF-8 \
			sed -n -s '/^$/{ n; :output; /^    /{ n; b output; }; }
				/^|/d; s/](http[^)]*)/]()/g; /^.\{121\}/{ F; =; }'
	} | paste -d : - - | sed 's/$/: has more than 120 columns/'
	# In a line that isn't UTF-8, columns can't be counted.
	xargs env LC_ALL=C.UTF-8 grep -a -n -v -x '.*' <"$build/columns.files" |
		LC_ALL=C sed -E 's/^([^:]*:[0-9]*):.*/\1: is not UTF-8/' || true
}

includes() {
	files | grep -E '\.(h|c|cc)$' | grep -v '^tests/' | xargs grep -n -E '^#[[:space:]]*include ("|<icepath/)' |
		awk '
		NR == FNR {
			if ($0 !~ /^[# \t]/ && NF) { last = $1; known[last] = 1 }
			if ($0 !~ /^#/) { sub(/^[^ \t]+/, ""); may[last] = may[last] $0 }
			next
		}
		{
			split($0, part, ":")
			included = $0; sub(/^[^"<]*["<]/, "", included); sub(/[">].*/, "", included)
			folder = part[1]
			while (sub(/\/[^\/]*$/, "", folder) && !(folder in known)) ;
			# Own files, those beside the file, and what the build generates.
			if (!(folder in known) || index(included, "/") == 0 || index(included, folder "/") == 1) next
			count = split(may[folder], allowed, /[ \t]+/)
			for (i = 1; i <= count; i++) if (allowed[i] != "" && index(included, allowed[i]) == 1) next
			print part[1] ":" part[2] ": " folder " may not include " included " (tests/house/may_include.txt)"
		}' tests/house/may_include.txt -
}

# What `build`/NAME.expected and NAME.found, of the file PLACE, don't have in common: difference NAME PLACE
difference() {
	diff "$build/$1.expected" "$build/$1.found" |
		sed -n -E "s,^< (.*),$2 lacks: \\1,p; s,^> (.*),$2 has too much: \\1,p" || true
}

packages() {
	sed -n -E '/^\[/d; s/^([^ #]+) +# (.*)$/| `\1` | \2 |/p' cmake/debian-packages.txt |
		sed 's/|\(clang-[0-9]*`\)/` or `\1/' >"$build/packages.expected"
	sed -n '/^<!-- packages -->/,/^<!-- \/packages -->/{ /^| `/p }' docs/packages.md >"$build/packages.found"
	difference packages docs/packages.md
}

# Every code of failure.h has its row in the table, and the table has no other.
exit_codes() {
	sed -n '/^enum class ExitCode/,/^};/s/^[^=]*= \([0-9]*\),.*/\1/p' profiler/failure.h | sort >"$build/codes.expected"
	sed -n 's/^| `\([0-9]*\)` | .*/\1/p' docs/options.md | sort >"$build/codes.found"
	difference codes docs/options.md
}

# Tables and pictures of documents have the figures of the results that they name.
figures() {
	python3 -B tools/figures_in_docs.py --check
}

# The tutorial shows what its commands printed when they were stored. Its sed leaves no name of the template's where a
# report shows it.
tutorial() {
	python3 -B tools/tutorial.py --check
	template=middleware_adapters/template/template.cc
	script=$(sed -n "s/^    \$ sed '\(.*\)' SOURCE\/$(echo $template | sed 's,/,.,g') .*/\1/p" docs/tutorial.md)
	[ -n "$script" ] || echo "docs/tutorial.md has no sed that copies $template"
	sed "$script" $template | grep -n -v -E '^[[:space:]]*(//|#include)' | grep '"[^"]*template[^"]*"' |
		sed "s,^,$template after the tutorial's sed: ," || true
}

# A program in Python that imports a file of the tree leaves no __pycache__ beside it, which would be root's after sudo.
bytecode() {
	modules=$(files | sed -n -E 's,^(tools|tests)/(.*/)?([a-z_]+)\.py$,\3,p; s,^tools/([a-z_]+)/.*,\1,p' | sort -u |
		paste -s -d '|')
	files | grep -E '^(tools|tests)/.*\.py$' | xargs grep -l '^if __name__ == ' |
		xargs grep -l -E "^(import|from) ($modules)( |\.|\$)" | xargs grep -L '^sys\.dont_write_bytecode = True' |
		sed 's/$/: set sys.dont_write_bytecode before it imports a file of the tree/' || true
}

# Where BUILD is elsewhere, nothing is written into the source: no recipe names a folder of its own.
build_folders() {
	grep -n -P '^\t.*(?<![\w)])build(-[a-z]+)?\b(?!-deps)' Makefile | grep -v 'install-packages' |
		sed 's/^\([0-9]*\):.*/Makefile:\1: name the folder by $(BUILD)/' || true
}

# docs/options.md is what icepath prints, each command has a chapter in a page, and options exist that pages name, or
# the comments of what authors of plug-ins read.
options() {
	[ -x "$icepath" ] || { echo "skipped: $icepath isn't built"; exit 77; }
	"$icepath" gen options | diff docs/options.md - >"$build/options.diff" ||
		echo "docs/options.md isn't what icepath prints: $build/bin/icepath gen options >docs/options.md"
	pages=$(files | grep '\.md$' | grep -v -x docs/options.md)
	for command in $(sed -n 's/^## icepath \([a-z]*\)$/\1/p' docs/options.md); do
		echo "$pages" | xargs grep -q "^## .*icepath $command" || echo "icepath $command: no page has a chapter of it"
	done
	grep -o -E -e '--[a-z][a-z0-9-]+' docs/options.md | sort -u >"$build/options.expected"
	# Everywhere, those that follow icepath. In pages of icepath's use also those that stand by themselves.
	{
		echo "$pages" | xargs grep -o -E -e 'icepath [a-z]+ [^`|>;]*'
		grep -H -o -E -e '`(-[a-z], )?--[a-z][a-z0-9-]+' README.md docs/tutorial.md docs/measuring.md docs/machine.md \
			docs/reading.md docs/explaining.md docs/formats.md
		grep -H -o -E -e '[ (`]--[a-z][a-z0-9-]+' middleware_adapters/template/*.* include/icepath/plugin.h \
			plugin_kit/*.h | tr '(' ' '
	} | while IFS=: read -r page code; do
		echo "$code" | grep -o -E -e '(^|[ `])--[a-z][a-z0-9-]+' | tr -d ' `' | sed "s,$, $page,"
	done | sort -u >"$build/options.found"
	join -v 2 "$build/options.expected" "$build/options.found" |
		sed -E 's/^([^ ]*) (.*)/\2: icepath has no option \1/'
}

# CHANGELOG.md has the versions that `icepath --version` prints, and those of explain --json and compare --json.
versions() {
	[ -x "$icepath" ] || { echo "skipped: $icepath isn't built"; exit 77; }
	"$icepath" --version >"$build/versions"
	abi=$(sed -n 's/^plug-in ABI //p' "$build/versions")
	format=$(sed -n 's/^capture format \([0-9]*\) .*/\1/p' "$build/versions")
	oldest=$(sed -n 's/^capture format .* from \([0-9]*\) on.*/\1/p' "$build/versions")
	schema=$(sed -n 's/^run.json schema //p' "$build/versions")
	explained=$(sed -n -E '/"schema"/,/}/s/.*"const": ([0-9]+).*/\1/p' docs/explain-schema.json | head -n 1)
	compared=$(sed -n -E '/"schema"/,/}/s/.*"const": ([0-9]+).*/\1/p' docs/compare-schema.json | head -n 1)
	row="| $abi | $format | $(seq -s ', ' "$oldest" "$format") | schema $schema | schema $explained |"
	row="$row schema $compared |"
	grep -q -F -e "$row" CHANGELOG.md || echo "CHANGELOG.md: no program has the versions of this one: $row"
	grep -q "^| $abi | 20" CHANGELOG.md || echo "CHANGELOG.md: the plug-in ABI $abi has no row"
}

# As `make format` lays it out.
layout() {
	for program in clang-format-19 black; do
		command -v $program >/dev/null || { echo "skipped: $program isn't installed"; exit 77; }
	done
	{
		files | grep -E '\.(h|c|cc)$' | xargs clang-format-19 --dry-run 2>&1 |
			sed -n -E "s,^($PWD/)?([^ ]*): warning: .*,\\2: make format lays it out otherwise,p"
		files | grep '\.py$' | xargs black --check 2>&1 | grep -v -E '^(All done!|Oh no!|[0-9]+ files? would |$)' |
			sed -E "s,^would reformat ($PWD/)?(.*),\\2: make format lays it out otherwise,"
	}
}

# Each target stands in the page of its kind.
targets() {
	[ -x "$icepath" ] || { echo "skipped: $icepath isn't built"; exit 77; }
	"$icepath" list --json | sed -n '/"not_built"/q; s/^ *"name": "\([^"]*\)",$/\1/p' >"$build/targets.found"
	[ -s "$build/targets.found" ] || echo "icepath list names no target"
	while read -r target; do
		cat docs/transports.md docs/middleware.md | grep -q "^|.*\`$target\`.*|.*|" ||
			echo "$target: neither docs/transports.md nor docs/middleware.md lists it"
	done <"$build/targets.found"
}

# What the README shows as a report is one, word by word: the lines of results/report.txt in their order.
sample() {
	sed -n '/^<!-- sample: begin -->/,/^<!-- sample: end -->/s/^    //p' README.md >"$build/sample.found"
	[ -s "$build/sample.found" ] || echo "README.md has no sample of a report"
	grep -v '^$' results/report.txt | sed -n "2,$(($(wc -l <"$build/sample.found") + 1))p" >"$build/sample.expected"
	difference sample README.md
}

# What is printed goes through one file, which makes it printable, and says where it can't be written. A signal's
# handler and the end of a process that keeps rights, or that isn't icepath, print a sentence that has no name from
# elsewhere.
output() {
	printing='std::(cout|cerr|clog)|\b(printf|puts|putchar|perror|psignal)\(|fmt::print\(|STD(OUT|ERR)_FILENO'
	printing="$printing|[(,] *std(out|err)[,)]|/dev/(tty|std)"
	harmless='(isatty|ioctl)\(STD(OUT|ERR)_FILENO|STDERR_FILENO \+ 1|<= STDERR_FILENO|= STDERR_FILENO;'
	files | grep -E '^(profiler|cpuset)/.*\.(h|cc)$' |
		grep -v -E '^profiler/(worker/|cli/(output|signals)\.cc$|privilege/(root_process|helper_main)\.cc$)' |
		xargs grep -n -E "$printing" | grep -v -E "$harmless|: *//|^[^:]*:[0-9]*:[[:space:]]*//" |
		sed 's/$/: print through profiler\/cli\/output.h/' || true
}

# A name that came from outside is one of icepath's texts only once it is printable: texts of files are read by
# parse_json, names of tasks taken by task_name(), those of plug-ins by printable_text() of run/describe.cc.
names_from_outside() {
	sources=$(files | grep -E '^profiler/.*\.(h|cc)$')
	echo "$sources" | grep -v '^profiler/rundir/json_text\.cc$' |
		xargs grep -n -E '(\b[Jj]son|\bordered_json|\bbasic_json|>)::(sax_)?parse\(|\b[Jj]son::(from_|accept)' |
		sed 's/$/: read JSON through profiler\/rundir\/json_text.h/' || true
	echo "$sources" | grep -v '^profiler/rundir/type_table\.cc$' | xargs grep -n -E '[.>]comm\b' |
		grep -v -E 'model::task_name\([a-z.]*\.comm\)' |
		sed 's/$/: take names of tasks through profiler\/model\/task_name.h/' || true
	for place in rundir/json_text.cc model/task_name.h run/describe.cc cli/output.cc; do
		grep -q 'model::printable(' profiler/$place ||
			echo "profiler/$place: a text from outside comes in or goes out here and isn't made printable"
	done
	grep -q 'model::printable_page(' profiler/cli/output.cc ||
		echo "profiler/cli/output.cc: what is printed isn't made printable"
}

# Of pages: links and headings that they name, their length, figures in sentences, the shape of adapters' pages.
pages() {
	python3 -B tests/house/pages.py "$rule"
}

# explain/ and compare/ make no sentence: text/ words what they find. Two words in a row in a literal are one, but for
# what a program that is wrong throws, and the verdicts' names, which files have.
wordless() {
	files | grep -E '^profiler/(explain|compare)/.*\.(h|cc)$' | xargs grep -n '"' |
		grep -v -E '^[^:]*:[0-9]*:[[:space:]]*//|#include|static_assert|throw std::' |
		sed -E 's, // .*,,; s,"(explained by kind|partly explained|not told|too few)",,g' | awk '
		{
			place = $0; sub(/:[^:0-9].*/, "", place)
			for (rest = $0; match(rest, /"[^"]*"/); rest = substr(rest, RSTART + RLENGTH))
				if ((literal = substr(rest, RSTART, RLENGTH)) ~ /[A-Za-z.,:%}] [A-Za-z]/)
					print place ": " literal ": text/ words what is found"
		}'
}

case $rule in
links | lengths | sentences | adapters | older) found_by=pages ;;
spdx | bytecode | build_folders | names | sizes | columns | includes | packages | exit_codes | options | layout) ;;
targets | sample | figures | output | names_from_outside | versions | tutorial | wordless) ;;
*) echo "check.sh: no rule '$rule'" >&2; exit 2 ;;
esac
status=0
found=$("${found_by:-$rule}") || status=$?
[ -z "$found" ] || echo "$found"
[ $status -eq 0 ] || exit $status
[ -z "$found" ]
