#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the job of docs/gates.md as it stands, as a runner's user without root: ci_job.sh SOURCE BUILD. Its file of gates
# and the commands of its steps are taken from the page. What it asserts isn't how fast anything is: the first step must
# exit as gates do, and the files of the second one must tell the same. User and icepath are those of a mount namespace.
set -u
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd)
if [ -z "${3:-}" ]; then
	[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
	exec unshare --mount --propagation private "$0" "$source" "$build" inside
fi
set -e
folder=/mnt page=$source/docs/gates.md
mount -t tmpfs -o mode=755 tmpfs $folder
cd $folder
cmake --install "$build" --prefix $folder/usr >log
cp -a /etc/passwd /etc/group .
echo "runner:x:61001:61001::$folder/runner:/bin/sh" >>passwd
echo "runner:x:61001:" >>group
sed -i /^icepath:/d group
echo 'icepath:x:61003:runner' >>group
mount --bind $folder/passwd /etc/passwd
mount --bind $folder/group /etc/group
usr/bin/icepath setup --caps >log

# The checkout, with the file of gates at the place that its first line names.
install -d runner/work/ci runner/temp
awk '/^```toml/ { on = 1; next } /^```/ { on = 0 } on' "$page" >runner/work/ci/gates.toml
grep -q '^# ci/gates.toml$' runner/work/ci/gates.toml
chown -R 61001:61001 runner
# step-1, step-2: what stands below "run: |", without its indentation.
awk '/run: \|$/ { file = "step-" (++steps); next }
	file && substr($0, 1, 10) == "          " { print substr($0, 11) >file; next }
	{ file = "" }' "$page"
[ "$(ls step-* | wc -l)" -eq 2 ]
set +e

step() { # NUMBER: as GitHub's runner calls it
	(cd runner/work && setpriv --reuid=runner --regid=runner --init-groups env -i HOME=$folder/runner \
		PATH=$folder/usr/bin:/usr/bin:/bin LANG=C.UTF-8 RUNNER_TEMP=$folder/runner/temp \
		GITHUB_STEP_SUMMARY=$folder/runner/temp/step-summary bash --noprofile --norc -eo pipefail "$folder/step-$1")
}

step 1
judged=$?
echo "the first step exits with $judged"
case $judged in 0 | 1 | 4) ;; *) echo "FAILED: that isn't a code of gates that have their figures"; exit 1 ;; esac
step 2 || { echo "FAILED: the second step"; exit 1; }
grep -q '^### icepath: ' runner/temp/step-summary || { echo "FAILED: no summary"; exit 1; }
python3 - $judged runner/temp/junit.xml <<'P'
import sys
import xml.etree.ElementTree as ET

suites = ET.parse(sys.argv[2]).getroot()
counts = {name: int(suites.get(name)) for name in ("tests", "failures", "errors")}
judged = 1 if counts["failures"] else 4 if counts["errors"] else 0
print(counts)
sys.exit(judged != int(sys.argv[1]) or counts["tests"] != 7)
P
status=$?
[ $status -eq 0 ] || echo "FAILED: junit.xml tells something else"
exit $status
