#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the package's scripts do when dpkg calls them, tried on a copy of them with a made-up icepath: scripts.sh SOURCE.
set -u
scripts=$(cd "$1/packaging/debian" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir -p bin etc
for script in postinst prerm postrm; do
	sed -e "s,/usr/bin/icepath,$folder/bin/icepath,g; s,/usr/libexec/icepath/,$folder/bin/,g" \
		-e "s,/etc/icepath,$folder/etc/icepath,g" \
		"$scripts/$script" >$script
	chmod +x $script
done
# Remembers in the file `group` whom the helper was given.
cat >bin/icepath <<'END'
#!/bin/sh
here=$(dirname "$0")
case "$*" in
"setup --caps --undo")
	if [ -e "$here/unable" ]; then echo "can't" >&2; exit 3; fi
	if [ -e "$here/group" ]; then rm "$here/group"; echo "$here/icepath-helper is now root:root 0755, no capabilities"
	else echo "$here/icepath-helper had been given nothing, and is root:root 0755, no capabilities"; fi ;;
"setup --caps --group "*)
	if [ -e "$here/unable" ]; then echo "can't" >&2; exit 3; fi
	echo "$4" >"$here/group" ;;
*) exit 2 ;;
esac
END
chmod +x bin/icepath
: >bin/icepath-helper
failed=0
expect() { # NAME MARKER GROUP: what is in these files
	local marker=none group=none
	[ ! -e etc/icepath/setup-caps ] || marker=$(cat etc/icepath/setup-caps)
	[ ! -e bin/group ] || group=$(cat bin/group)
	[ "$marker $group" = "$2 $3" ] || { echo "FAILED: $1: asked $marker, given to $group"; failed=1; }
}
dpkg_calls() { ./"$@" 2>said || { echo "FAILED: $* ended with $?"; cat said; failed=1; }; }
its=$(stat -c %G bin/icepath-helper)

dpkg_calls postinst configure
expect "installed, nobody asked" none none
dpkg_calls prerm upgrade 2
dpkg_calls postinst configure 1
expect "replaced, nobody asked" none none

echo members >bin/group # as icepath setup --caps does
dpkg_calls prerm upgrade 2
expect "taken back before the files are replaced" "$its" none
dpkg_calls postinst configure 1
expect "given again" none "$its"
[ ! -e etc/icepath ] || { echo "FAILED: etc/icepath is left"; failed=1; }
dpkg_calls prerm upgrade 2
dpkg_calls postinst abort-upgrade 2
expect "given again when the upgrade was not" none "$its"

dpkg_calls prerm remove
dpkg_calls postrm remove
expect "removed" "$its" none
dpkg_calls postrm purge
expect "purged" none none
[ ! -e etc/icepath ] || { echo "FAILED: etc/icepath is left"; failed=1; }

mkdir etc/icepath
echo asked >etc/icepath/setup-caps
dpkg_calls postinst configure
expect "asked for beforehand" none asked
: >bin/unable
dpkg_calls prerm upgrade 2
expect "not taken back: it says so, and nothing is made of it" none asked
grep -q "can't" said || { echo "FAILED: prerm is silent"; failed=1; }
mkdir -p etc/icepath
echo asked >etc/icepath/setup-caps
dpkg_calls postinst configure 1
expect "can't be given: the wish stays" asked asked
grep -q 'setup --caps --group asked' said || { echo "FAILED: postinst doesn't say what to do"; failed=1; }
exit $failed
