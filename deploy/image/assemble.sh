#!/bin/sh
# Usage: deploy/image/assemble.sh <folder with the packages> <root folder>
#
# Puts together the files that the container image adds to its base. The Dockerfile runs this, and so does a test, which starts the result in a chroot.
# The base needs glibc and libstdc++. The packages bring Node and PostgreSQL.
set -eu

packages=$1
root=$2
here=$(dirname "$0")
user=10001

mkdir -p "$root/opt/rrs/bin" "$root/etc" "$root/var/lib/rrs" "$root/tmp"
npm install --prefix "$root/opt/rrs" --omit=dev --no-audit --no-fund --loglevel=error "$packages"/*.tgz
# Otherwise it names the packages by their place on the machine that built the image.
rm -f "$root/opt/rrs/package.json" "$root/opt/rrs/package-lock.json" "$root/opt/rrs/node_modules/.package-lock.json"
cp "$here/health.mjs" "$root/opt/rrs/bin/"
ln -sf ../node_modules/node/bin/node "$root/opt/rrs/bin/node"
for program in rrs-server rrs rrs-verify; do ln -sf "../node_modules/.bin/$program" "$root/opt/rrs/bin/$program"; done

# initdb refuses to run as a user without a name.
cat >"$root/etc/passwd" <<PASSWD
root:x:0:0:root:/root:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
rrs:x:$user:$user:Remediation Risk Service:/var/lib/rrs:/usr/sbin/nologin
PASSWD
printf 'root:x:0:\nnogroup:x:65534:\nrrs:x:%s:\n' "$user" >"$root/etc/group"
chmod 1777 "$root/tmp"
chmod 0700 "$root/var/lib/rrs"
[ "$(id -u)" != 0 ] || chown "$user:$user" "$root/var/lib/rrs"
