#!/bin/sh
# Installs this unpacked archive. Also used for upgrade and rollback.
#
#   ./install.sh [--prefix DIRECTORY] [--destdir DIRECTORY] [--remove]
#
# Copies the archive to PREFIX/understudy-VERSION, unless it is already there, and atomically switches the link PREFIX/understudy.
# Installs links to the command, manual pages and completion in /usr/local, and systemd units in /usr/local/lib/systemd/system.
# Copies sample configurations and their schemas to /etc/understudy; existing configurations are not changed. Does not start or
# restart any unit.
#
#   --prefix DIRECTORY    Directory of the installed versions (default: that of the present installation, else /opt).
#   --destdir DIRECTORY   Install below another root directory, for example to build a package. Does not start or stop units.
#   --remove              Stop and disable the units, and remove all installed versions. Keeps /etc/understudy.
#
# Rollback: run PREFIX/understudy-VERSION/install.sh of the version to use, then restart the units.
set -eu
# The units run as another user and must be able to read the files.
umask 022

prefix=
destdir=
remove=false
while [ $# -gt 0 ]; do
  case $1 in
    --prefix | --destdir)
      [ $# -gt 1 ] || { echo "install.sh: $1 needs a directory" >&2; exit 2; }
      case $2 in /*) ;; *) echo "install.sh: $1 must be an absolute path, but is $2" >&2; exit 2 ;; esac
      [ "$1" = --prefix ] && prefix=$2 || destdir=$2
      shift ;;
    --remove) remove=true ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0"; exit 0 ;;
    *) echo "install.sh: unknown argument $1 (see --help)" >&2; exit 2 ;;
  esac
  shift
done
if [ -z "$prefix" ]; then
  prefix=$(readlink "$destdir/usr/local/bin/understudy") || true
  case $prefix in
    */understudy/bin/understudy) prefix=${prefix%/understudy/bin/understudy} ;;
    *) prefix=/opt ;;
  esac
fi
# Avoids double slashes in derived paths.
prefix=${prefix%/}
# systemd splits the command of a unit at blanks and expands %; the others are special to sed.
case $remove$prefix in false*[[:space:]\|\&\\%]*)
  printf 'install.sh: --prefix must not contain blanks, |, &, %% or \\, but is %s\n' "$prefix" >&2; exit 2 ;; esac

home=$(CDPATH='' cd -P "$(dirname "$0")" && pwd)
name=$(basename "$home")
case $name in understudy-*) ;; *) echo "install.sh: $home must be named understudy-VERSION, as in the archive" >&2; exit 1 ;; esac
target=$prefix/understudy
units=$destdir/usr/local/lib/systemd/system

link() { # target, link; replaces the link atomically
  mkdir -p "$(dirname "$2")"
  ln -sfn "$1" "$2.new"
  mv -fT "$2.new" "$2"
}

# Beside a package, an installation with another prefix can be removed only.
if { [ -d "$destdir$target" ] && [ ! -L "$destdir$target" ]; } ||
  { ! $remove && [ -e "$destdir/usr/lib/systemd/system/understudy-gateway.service" ]; }; then
  echo "install.sh: $destdir$target or the units are of a package; remove the package first: apt remove understudy, or dnf remove understudy" >&2
  exit 1
fi

runs_here() { [ -z "$destdir" ] && [ -d /run/systemd/system ]; }

if $remove; then
  for unit in understudy-gateway understudy-mirror understudy-supervisor; do
    [ -e "$units/$unit.service" ] || continue
    ! runs_here || systemctl disable --now "$unit"
    rm -f "$units/$unit.service"
  done
  ! runs_here || systemctl daemon-reload
  rm -f "$destdir/etc/sysusers.d/understudy.conf" "$destdir/etc/tmpfiles.d/understudy.conf"
  find "$destdir/usr/local" -type l -lname "$target/*" -exec rm {} + 2>/dev/null || true
  rm -f "$destdir$target"
  # Skip directories of other software with a similar name.
  for version in "$destdir$prefix"/understudy-*; do
    [ -L "$version" ] || [ ! -f "$version/bin/understudy" ] || [ ! -f "$version/install.sh" ] || rm -rf "$version"
  done
  exit 0
fi

if [ "$home" != "$(readlink -f "$destdir$prefix")/$name" ]; then
  mkdir -p "$destdir$prefix"
  # Copy to a temporary name and rename, so that a partial copy is never visible.
  rm -rf "$destdir$prefix/.$name.new"
  cp -R "$home" "$destdir$prefix/.$name.new"
  # The archive may have been unpacked by another user or with a restrictive umask.
  chmod -R u+rwX,go+rX,go-w "$destdir$prefix/.$name.new"
  [ "$(id -u)" -ne 0 ] || chown -R 0:0 "$destdir$prefix/.$name.new"
  rm -rf "$destdir$prefix/$name"
  mv "$destdir$prefix/.$name.new" "$destdir$prefix/$name"
fi
link "$name" "$destdir$target"

link "$target/bin/understudy" "$destdir/usr/local/bin/understudy"
[ ! -e "$home/completion/understudy.bash" ] ||
  link "$target/completion/understudy.bash" "$destdir/usr/local/share/bash-completion/completions/understudy"
[ ! -e "$home/completion/understudy.fish" ] ||
  link "$target/completion/understudy.fish" "$destdir/usr/local/share/fish/vendor_completions.d/understudy.fish"
for page in "$home"/man/*.1; do
  [ ! -e "$page" ] || link "$target/man/$(basename "$page")" "$destdir/usr/local/share/man/man1/$(basename "$page")"
done

mkdir -p "$units" "$destdir/etc/sysusers.d" "$destdir/etc/tmpfiles.d" "$destdir/etc/understudy"
for unit in "$home"/systemd/understudy-*.service; do
  sed "s|/opt/understudy/|$target/|g" "$unit" >"$units/.new"
  chmod 644 "$units/.new"
  mv -f "$units/.new" "$units/$(basename "$unit")"
done
install -m 644 "$home/systemd/sysusers.conf" "$destdir/etc/sysusers.d/understudy.conf"
install -m 644 "$home/systemd/tmpfiles.conf" "$destdir/etc/tmpfiles.d/understudy.conf"
for sample in "$home"/conf/*.yaml; do
  [ -e "$destdir/etc/understudy/$(basename "$sample")" ] || install -m 644 "$sample" "$destdir/etc/understudy/"
done
install -m 644 "$home"/conf/*.schema.json "$destdir/etc/understudy/"

# A class archive depends on the installation path and on the Java version, so it is not created with --destdir.
[ -n "$destdir" ] || "$target/bin/archive-classes" || echo "install.sh: could not create the class archive; commands start slower" >&2

echo "$target -> $name"
if runs_here; then
  systemd-sysusers
  systemd-tmpfiles --create understudy.conf
  systemctl daemon-reload
  echo "Restart the running units to use this version, for example: systemctl restart understudy-gateway"
fi
