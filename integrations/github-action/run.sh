#!/usr/bin/env bash
# The step of action.yml. Its inputs are in INPUT_… variables.
set -euo pipefail

lines_of() {
  printf '%s\n' "$1" | sed '/^[[:space:]]*$/d; s/^[[:space:]]*//; s/[[:space:]]*$//'
}

# The bash of macOS has no mapfile.
reports=()
while IFS= read -r report; do
  reports+=("$report")
done < <(lines_of "$INPUT_REPORTS")
options=(--fail-on "$INPUT_FAIL_ON")
[[ -z ${INPUT_ASSET:-} ]] || options+=(--asset "$INPUT_ASSET")
[[ -z ${INPUT_TRACK:-} ]] || options+=(--track "$INPUT_TRACK")
[[ -z ${INPUT_BASE:-} ]] || options+=(--base "$INPUT_BASE")
[[ ${INPUT_NEW_ONLY:-} != true ]] || options+=(--new-only)
[[ ${INPUT_COMPLETE:-} != true ]] || options+=(--complete)
while IFS= read -r kind; do
  options+=(--looked-for "$kind")
done < <(lines_of "${INPUT_LOOKED_FOR:-}")
[[ -z ${INPUT_SARIF_FILE:-} ]] || options+=(--output "sarif=$INPUT_SARIF_FILE")

read -ra command <<< "$INPUT_COMMAND"
exec "${command[@]}" ci "${options[@]}" -- ${reports[@]+"${reports[@]}"}
