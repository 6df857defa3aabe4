#!/usr/bin/env bash
# The step of action.yml. Its inputs are in INPUT_… variables.
set -euo pipefail

# The bash of macOS has no mapfile.
reports=()
while IFS= read -r report; do
  reports+=("$report")
done < <(printf '%s\n' "$INPUT_REPORTS" | sed '/^[[:space:]]*$/d; s/^[[:space:]]*//; s/[[:space:]]*$//')
options=(--fail-on "$INPUT_FAIL_ON")
[[ -z ${INPUT_ASSET:-} ]] || options+=(--asset "$INPUT_ASSET")
[[ -z ${INPUT_TRACK:-} ]] || options+=(--track "$INPUT_TRACK")
[[ -z ${INPUT_BASE:-} ]] || options+=(--base "$INPUT_BASE")
[[ ${INPUT_NEW_ONLY:-} != true ]] || options+=(--new-only)
[[ ${INPUT_COMPLETE:-} != true ]] || options+=(--complete)
[[ -z ${INPUT_SARIF_FILE:-} ]] || options+=(--output "sarif=$INPUT_SARIF_FILE")

read -ra command <<< "$INPUT_COMMAND"
exec "${command[@]}" ci "${options[@]}" -- ${reports[@]+"${reports[@]}"}
