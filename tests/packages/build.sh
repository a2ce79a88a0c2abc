#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# In a bare Debian, as root: makes the packages of the commit OLDER in /srv/older, and in /srv/newer those of NEWER with
# what isn't committed, which is in /srv/uncommitted: build.sh OLDER NEWER. /srv/source is a clone.
set -eu
make -s deps middleware-deps package-deps
cmake/quietly.sh env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install git lintian
export CI=true # warnings are errors
cd /srv/source
export CCACHE_BASEDIR=$PWD
git checkout -q --detach "$1"
make -s package
mv build/packages /srv/older
git checkout -q --detach "$2"
[ ! -s /srv/uncommitted ] || git apply /srv/uncommitted
make -s package
mv build/packages /srv/newer
echo "adapters that aren't built: $(cut -d ' ' -f 1 build/lib/icepath/not-built | paste -s -d ' ')"
for folder in older newer; do
	echo "$folder: $(cd /srv/$folder && ls *.deb | wc -l) packages, $(dpkg-deb -f /srv/$folder/icepath_*.deb Version)"
done
