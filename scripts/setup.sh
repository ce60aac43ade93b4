#!/usr/bin/env bash
# Makes sure that what the build and the demo call is there; with the argument `test`, what the tests call besides. As
# root on a Debian-like system it installs what is missing; elsewhere it says exactly what to install.
set -euo pipefail

need=()          # Debian packages
also=()          # what no package manager can bring here
have() { command -v "$1" >/dev/null 2>&1; }

have git || need+=(git)
have cc || need+=(gcc libc6-dev)
have make || need+=(make)
have pkg-config || need+=(pkg-config)
have gpg || need+=(gpg gpg-agent)
have gpg-agent || [ -x /usr/bin/gpg-agent ] || need+=(gpg-agent)
have ssh-keygen || need+=(openssh-client)
have bwrap || need+=(bubblewrap)
have prlimit || need+=(util-linux)
have curl || need+=(curl)
if [ "${1:-}" = test ]; then
  # The definition of Kafka clusters is generated from Strimzi's jars.
  have java || need+=(default-jre-headless)
  have mvn || need+=(maven)
  # The plan's HTML page is looked at in a real browser.
  have chromium || have chromium-browser || have google-chrome || need+=(chromium fonts-dejavu-core)
fi
{ have pkg-config && pkg-config --exists gpgme 2>/dev/null; } || have gpgme-config || need+=(libgpgme-dev)
# Asked, and not only looked for: rustup's cargo is there even if the toolchain of this folder is not.
(cd "$(dirname "$0")" && cargo --version >/dev/null 2>&1) ||
  also+=("Rust 1.95 or newer (rustup toolchain install 1.95.0 --component clippy,rustfmt)")
have go || also+=("Go 1.26 or newer")

if [ ${#need[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && have apt-get; then
    echo "installing: ${need[*]}" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >/dev/null
    apt-get install -y -qq --no-install-recommends "${need[@]}" >/dev/null
  else
    echo "These packages are missing (names as in Debian): ${need[*]}" >&2
    echo "Install them, then run the same command again:" >&2
    echo "  sudo apt-get install ${need[*]}" >&2
    exit 1
  fi
fi
if [ ${#also[@]} -gt 0 ]; then
  printf 'missing: %s\n' "${also[@]}" >&2
  exit 1
fi
