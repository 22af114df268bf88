#!/usr/bin/env bash
# Installs everything the project needs on Debian 12: the missing Debian
# packages, and a .venv with exactly pinned Python packages. It asks dpkg and a
# stamp file first, so a run with nothing to do ends at once.
#
# usage: utils/setup.sh [--packages-only]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
stamp=$venv/.streamtensor-setup
constraints=$root/utils/python-constraints.txt

say() { printf '==> %s\n' "$*" >&2; }
die() {
  printf 'setup: error: %s\n' "$*" >&2
  exit 1
}

install_packages() {
  command -v dpkg-query >/dev/null ||
    die "expected Debian 12 but found no dpkg; install the packages named in utils/packages.txt by hand"
  local wanted missing=()
  mapfile -t wanted < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$root/utils/packages.txt")
  local installed
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null |
    sed -n 's/ installed$//p' | sort -u) || true
  local package
  for package in "${wanted[@]}"; do
    grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  local become=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      die "these Debian packages are missing and installing them needs root: ${missing[*]}; as root run: apt-get update && apt-get install ${missing[*]}"
    become=(sudo)
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  "${become[@]}" apt-get update -q >&2 ||
    die "apt-get update failed; check the network and the package sources of this machine"
  "${become[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}" >&2 ||
    die "apt-get could not install: ${missing[*]}; the LLVM 22 packages come with Debian 12's security updates, which must be enabled"
}

# Prints the Python 3.11 to build the .venv with.
find_python() {
  local candidate
  for candidate in python3 /usr/bin/python3.11; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 11))' \
      2>/dev/null; then
      command -v "$candidate"
      return 0
    fi
  done
  die "expected a Python 3.11 with its venv module but found none; install python3 and python3-venv of Debian 12"
}

# What the .venv depends on: its place, its Python and every requirement.
fingerprint() {
  {
    printf '%s\n' "$venv" "$1"
    "$1" -c 'import sys; print(sys.version)'
    cat "$constraints"
    cd "$root/python"
    local file
    for file in requirements.txt requirements-nodeps.txt pyproject.toml setup.py setup.cfg; do
      [ ! -f "$file" ] || { printf '%s\n' "$file" && cat "$file"; }
    done
  } | sha256sum | cut -d' ' -f1
}

install_python() {
  local requirements=$root/python/requirements.txt
  if [ ! -f "$requirements" ]; then
    say "python/requirements.txt does not exist: no .venv is made"
    return 0
  fi
  local python print
  python=$(find_python)
  print=$(fingerprint "$python")
  [ "$(cat "$stamp" 2>/dev/null)" != "$print" ] || return 0

  say "making .venv with $python: about 1.5 GB, a minute or two"
  rm -f "$stamp"
  # A .venv of another place or another Python cannot be brought up to date.
  local clear=--clear
  if [ "$(cat "$venv/.streamtensor-python" 2>/dev/null)" = "$venv $python" ]; then
    clear=--upgrade
  fi
  "$python" -m venv "$clear" "$venv"
  printf '%s\n' "$venv $python" >"$venv/.streamtensor-python"

  local pip=("$venv/bin/python" -m pip --disable-pip-version-check --no-input)
  # PyTorch first and alone: with its exact version present nothing else can
  # pull in another build of it.
  local torch
  torch=$(sed -n 's/^\(torch==[^[:space:];#]*\).*/\1/p' "$requirements")
  [ -n "$torch" ] || die "expected an exact pin of torch in python/requirements.txt but found none"
  say "installing $torch"
  "${pip[@]}" install -q -c "$constraints" "$torch" >&2
  say "installing python/requirements.txt"
  "${pip[@]}" install -q -c "$constraints" -r "$requirements" >&2
  if [ -f "$root/python/requirements-nodeps.txt" ]; then
    say "installing python/requirements-nodeps.txt"
    "${pip[@]}" install -q --no-deps -r "$root/python/requirements-nodeps.txt" >&2
  fi
  if [ -f "$root/python/pyproject.toml" ]; then
    say "installing the streamtensor package"
    "${pip[@]}" install -q --no-build-isolation --no-deps -e "$root/python" >&2
  fi
  # The stamp comes last: an interrupted set-up is never taken for a finished one.
  printf '%s\n' "$print" >"$stamp"
}

# Two set-ups at once would write the same .venv.
exec 9<"$root/utils/packages.txt"
flock 9

case ${1-} in
'') install_packages && install_python ;;
--packages-only) install_packages ;;
*)
  printf 'usage: utils/setup.sh [--packages-only]\n' >&2
  exit 2
  ;;
esac
