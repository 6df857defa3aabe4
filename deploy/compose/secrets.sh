#!/bin/sh
# Writes random secrets for compose.yaml to deploy/compose/secrets. Secrets that exist are kept.
set -eu

folder=$(dirname "$0")/secrets
umask 022
mkdir -p "$folder"
# Compose mounts the files with their mode, and the services run as other users. The folder keeps the other users of this machine out.
chmod 0700 "$folder"

random() { head -c 24 /dev/urandom | od -A n -t x1 | tr -d ' \n'; }
keep() { [ -e "$folder/$1" ] || printf '%s' "$2" >"$folder/$1"; }

keep database-password "$(random)"
keep database-url "postgresql://rrs:$(cat "$folder/database-password")@postgres/rrs"
keep s3-secret-key "$(random)"
keep s3-config "{\"identities\":[{\"name\":\"rrs\",\"credentials\":[{\"accessKey\":\"rrs\",\"secretKey\":\"$(cat "$folder/s3-secret-key")\"}],\"actions\":[\"Admin\",\"Read\",\"Write\",\"List\",\"Tagging\"]}]}"
