#!/bin/sh
# Puts this unpacked archive in its place, or back there: upgrade and rollback are the same.
#
#   ./install.sh [--prefix /opt] [--destdir DIRECTORY] [--remove]
#
# Copies it to PREFIX/understudy-VERSION, unless it is there already, and makes the link PREFIX/understudy lead to it, in one step.
# Links to that for the command, its manual pages and completion are in /usr/local, units of systemd in
# /usr/local/lib/systemd/system, sample configurations where there are none yet in /etc/understudy. Nothing is started, and
# no configuration changed. With --destdir all of it goes below another root, such as a package's. --remove stops and disables
# the units, and takes away what was installed, of this and all other versions, but not /etc/understudy. With --destdir it stops
# nothing.
#
# Rollback: run install.sh of the version that is to be used, in PREFIX/understudy-VERSION, and restart the units.
set -eu
# Whoever installs it, all may read it: units run as another user.
umask 022

prefix=/opt
destdir=
remove=false
while [ $# -gt 0 ]; do
  case $1 in
    --prefix | --destdir)
      [ $# -gt 1 ] || { echo "install.sh: $1 needs a directory" >&2; exit 2; }
      case $2 in /*) ;; *) echo "install.sh: $1 is $2, which is not an absolute path" >&2; exit 2 ;; esac
      [ "$1" = --prefix ] && prefix=$2 || destdir=$2
      shift ;;
    --remove) remove=true ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0"; exit 0 ;;
    *) echo "install.sh: unknown argument $1 (see --help)" >&2; exit 2 ;;
  esac
  shift
done
# So that paths made of it have no slash twice.
prefix=${prefix%/}

home=$(CDPATH='' cd -P "$(dirname "$0")" && pwd)
name=$(basename "$home")
case $name in understudy-*) ;; *) echo "install.sh: $home is not named understudy-VERSION, as it was in the archive" >&2; exit 1 ;; esac
target=$prefix/understudy
units=$destdir/usr/local/lib/systemd/system

link() { # to what, where; replaces it in one step
  mkdir -p "$(dirname "$2")"
  ln -sfn "$1" "$2.new"
  mv -fT "$2.new" "$2"
}

runs_here() { [ -z "$destdir" ] && [ -d /run/systemd/system ]; }

if $remove; then
  for unit in understudy-gateway understudy-mirror understudy-supervisor; do
    [ -e "$units/$unit.service" ] || continue
    ! runs_here || systemctl disable --now "$unit"
    rm -f "$units/$unit.service"
  done
  ! runs_here || systemctl daemon-reload
  rm -f "$destdir/etc/sysusers.d/understudy.conf"
  find "$destdir/usr/local" -type l -lname "$target/*" -exec rm {} + 2>/dev/null || true
  rm -f "$destdir$target"
  # Others may have called something of theirs so.
  for version in "$destdir$prefix"/understudy-*; do
    [ -L "$version" ] || [ ! -f "$version/bin/understudy" ] || [ ! -f "$version/install.sh" ] || rm -rf "$version"
  done
  exit 0
fi

if [ "$home" != "$(readlink -f "$destdir$prefix")/$name" ]; then
  mkdir -p "$destdir$prefix"
  # Whoever looks sees all of it or nothing.
  rm -rf "$destdir$prefix/.$name.new"
  cp -R "$home" "$destdir$prefix/.$name.new"
  # Of whoever has unpacked it, and who may have kept it to himself.
  chmod -R u+rwX,go+rX,go-w "$destdir$prefix/.$name.new"
  [ "$(id -u)" -ne 0 ] || chown -R 0:0 "$destdir$prefix/.$name.new"
  rm -rf "$destdir$prefix/$name"
  mv "$destdir$prefix/.$name.new" "$destdir$prefix/$name"
fi
link "$name" "$destdir$target"

link "$target/bin/understudy" "$destdir/usr/local/bin/understudy"
[ ! -e "$home/completion/understudy.bash" ] ||
  link "$target/completion/understudy.bash" "$destdir/usr/local/share/bash-completion/completions/understudy"
for page in "$home"/man/*.1; do
  [ ! -e "$page" ] || link "$target/man/$(basename "$page")" "$destdir/usr/local/share/man/man1/$(basename "$page")"
done

mkdir -p "$units" "$destdir/etc/sysusers.d" "$destdir/etc/understudy"
for unit in "$home"/systemd/understudy-*.service; do
  sed "s|/opt/understudy/|$target/|g" "$unit" >"$units/.new"
  chmod 644 "$units/.new"
  mv -f "$units/.new" "$units/$(basename "$unit")"
done
install -m 644 "$home/systemd/sysusers.conf" "$destdir/etc/sysusers.d/understudy.conf"
for sample in "$home"/conf/*.yaml; do
  [ -e "$destdir/etc/understudy/$(basename "$sample")" ] || install -m 644 "$sample" "$destdir/etc/understudy/"
done

# Elsewhere it would be for another place, and perhaps another Java.
[ -n "$destdir" ] || "$target/bin/archive-classes" || echo "install.sh: without an archive of classes, starts take longer" >&2

echo "$target leads to $name"
if runs_here; then
  systemd-sysusers
  systemctl daemon-reload
  echo "To use it: systemctl restart the units that run, such as understudy-gateway"
fi
