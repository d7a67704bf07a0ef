# Sourced by the steps of action.yml: lines of an input become arguments, whatever characters they hold.
# For bash 3.2 (macOS) and later; an empty array is only safe to expand without `set -u`.

arguments=()

# add_lines TEXT: every line that is not empty is one argument.
add_lines() {
  local line
  while IFS= read -r line || [ -n "$line" ]; do
    line="${line%$'\r'}"
    if [ -n "$line" ]; then
      arguments+=("$line")
    fi
  done <<< "$1"
}

# add_targets TEXT: the same for files, folders and names; an option among them would do what nobody asked for.
add_targets() {
  if grep -q '^-' <<< "$1"; then
    printf 'suites: expected a file, a folder or a name a line, got an option; options go into args\n' >&2
    exit 2
  fi
  add_lines "$1"
}
