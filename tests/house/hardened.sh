#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether each program and plug-in that is installed is hardened, as cmake/Hardening.cmake wants it: hardened.sh BUILD.
# Prints what isn't; 0 if all of it is.
set -eu
build=$(cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --install "$build" --prefix "$folder/installed" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }

# What isn't there, of a file whose readelf output is in elf.
lacks() {
	grep -q '^ *Type: *DYN ' elf || echo 'not position independent'
	case $1 in */bin/*) grep -q '(FLAGS_1).*PIE' elf || echo 'not linked as a position independent program' ;; esac
	grep -q '(FLAGS_1).*NOW' elf || echo 'symbols are bound late (-z now)'
	grep -q '^ *GNU_RELRO ' elf || echo 'relocations stay writable (-z relro)'
	grep -q '^ *GNU_STACK .* RW ' elf || echo 'the stack can be executed (-z noexecstack)'
	! grep -q '^ *LOAD .* RWE ' elf || echo 'a segment is both written and executed'
	! grep -q '(TEXTREL)' elf || echo 'relocates its code'
	! grep -q '(R\(UN\)\{0,1\}PATH)' elf || echo 'has a search path of its own for libraries'
	grep -q '__stack_chk_fail' elf || echo 'no function has a stack protector'
	# The helper calls none, since all of its sizes are known to the compiler.
	case $1 in
	*/icepath-helper) ;;
	*) grep -q '__[a-z]*_chk@' elf || echo 'calls no checked function (_FORTIFY_SOURCE)' ;;
	esac
}

cd "$folder"
find installed -type f | sort >files
while read -r file; do
	[ "$(head -c 4 "$file" | tr -d '\177')" = ELF ] || continue
	echo "$file" >>checked
	readelf -W -h -l -d --dyn-syms "$file" >elf
	lacks "$file" | sed "s,^,$file: ,"
done <files >found
# What stands in no file: it is in the command of each source that goes into one.
case $(uname -m) in x86_64) of_x86=-fcf-protection ;; *) of_x86= ;; esac
for flag in -fstack-protector -fstack-clash-protection _FORTIFY_SOURCE= $of_x86; do
	grep '^ *"command"' "$build/compile_commands.json" | grep -v -e '-o tests/' | grep -v -e "$flag" |
		sed "s,.* -c \([^ \"]*\).*,\1: compiled without $flag," >>found
done
[ "$(wc -l <checked)" -ge 20 ] || echo "only $(wc -l <checked) programs and plug-ins were installed" >>found
cat found
echo "$(wc -l <checked) files looked at"
[ ! -s found ]
