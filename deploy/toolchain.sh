# Sourced by deploy/understudy and .ci/run: provides a JDK (17 preferred, later versions work) and Maven. Exports JAVA_HOME.
# Installs missing packages on Debian as root; otherwise prints their names.

java_release() { # prints the version of the JDK in the given directory; empty if there is none
  [ ! -x "$1/bin/javac" ] || sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release" 2>/dev/null
}

find_jdk() { # prints the first of: JAVA_HOME, an installed JDK 17, the JDK of javac on PATH
  local candidate release
  if [ -n "${JAVA_HOME:-}" ]; then
    release=$(java_release "$JAVA_HOME")
    [ "${release:-0}" -ge 17 ] && echo "$JAVA_HOME"
    return
  fi
  for candidate in /usr/lib/jvm/*; do
    [ "$(java_release "$candidate")" = 17 ] && echo "$candidate" && return
  done
  candidate=$(command -v javac) || return
  candidate=$(dirname "$(dirname "$(readlink -f "$candidate")")")
  release=$(java_release "$candidate")
  [ "${release:-0}" -ge 17 ] && echo "$candidate"
}

install_packages() { # prints the output of apt-get only on failure
  local output
  if ! output=$(apt-get update -qq 2>&1 &&
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" 2>&1); then
    printf '%s\nunderstudy: apt-get could not install %s\n' "$output" "$*" >&2
    return 1
  fi
}

require_toolchain() {
  local missing=() jdk
  jdk=$(find_jdk) || jdk=
  if [ -z "$jdk" ] && [ -n "${JAVA_HOME:-}" ]; then
    echo "understudy: JAVA_HOME must be a JDK 17 or later, but is $JAVA_HOME" >&2
    return 1
  fi
  [ -n "$jdk" ] || missing+=(openjdk-17-jdk-headless)
  command -v mvn >/dev/null || missing+=(maven)
  if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
      echo "understudy: the build requires JDK 17 or later and Maven; on Debian: apt-get install ${missing[*]}" >&2
      return 1
    fi
    echo "understudy: installing ${missing[*]}" >&2
    install_packages "${missing[@]}" || return 1
    jdk=$(find_jdk) || { echo "understudy: no JDK found after installing ${missing[*]}" >&2; return 1; }
  fi
  export JAVA_HOME=$jdk
}

offer_node() { # for the tests of the Node.js etcd client, which are skipped without it
  if ! command -v npm >/dev/null && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "understudy: installing nodejs npm" >&2
    install_packages nodejs npm || true
  fi
}

offer_chromium() { # for the tests of the dashboard, which are skipped without it
  if ! command -v chromedriver >/dev/null && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "understudy: installing chromium chromium-driver" >&2
    install_packages chromium chromium-driver || true
  fi
}

offer_prometheus() { # for the tests of alerts and Grafana dashboard, which are skipped without it
  if ! command -v promtool >/dev/null && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "understudy: installing prometheus" >&2
    install_packages prometheus || true
  fi
}
