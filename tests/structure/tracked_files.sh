# tracked_files ROOT: the files of the project, relative to ROOT, one per line; without git, all but what is built.
tracked_files() (
  cd "$1"
  local files
  files=$(git ls-files 2>/dev/null || true)
  [[ -n $files ]] || files=$(find . -type f -not -path './.git/*' -not -path './build/*' -not -path './install/*' \
    -not -path './.deps/*' -not -path './results/*' | sed 's|^\./||')
  while IFS= read -r file; do
    if [[ -f $file ]]; then printf '%s\n' "$file"; fi
  done <<<"$files"
)
