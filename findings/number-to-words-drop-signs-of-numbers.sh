#!/usr/bin/env bash
# inflect and number-to-words turn a text with a number in it into another number, without an error.
#
# One would guess: a function that spells out a number reads `1,204` and refuses `1/2`, `3:16` and `1:50,000`.
# Versions: inflect 7.6.0 (PyPI), number-to-words 1.2.4 (npm).
# Seen: inflect removes the signs and reads the digits that are left as one number. number-to-words reads the digits before
# the first sign and drops the others, and the part of a decimal number too:
#   inflect          1/2 = twelve, 2-in-1 = twenty-one, 3:16 = three hundred and sixteen, 1:50,000 = one hundred and fifty thousand
#   number-to-words  1,204 = one, 25 000 = twenty-five, 3.14 = three
# Cause: inflect deletes what is no digit, and number-to-words calls parseInt.
# Why it matters to foley: a reader that finds numbers with a simple pattern and passes them to such a library says a wrong
# number. foley decides first what a number is (a fraction, a verse, a scale, a number with spaces).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet inflect==7.6.0
"$folder/venv/bin/python" - <<'PYTHON'
import inflect

read = inflect.engine().number_to_words
EXPECTED = {
    "1/2": "twelve",
    "2-in-1": "twenty-one",
    "3:16": "three hundred and sixteen",
    "1:50,000": "one hundred and fifty thousand",
}
for written, words in EXPECTED.items():
    print("inflect", written, "=", read(written))
    assert read(written) == words, f"{written} is read otherwise now"
PYTHON
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund number-to-words@1.2.4
node - <<'JAVASCRIPT'
const assert = require('node:assert');
const { toWords } = require('number-to-words');

for (const [written, words] of [['1,204', 'one'], ['25 000', 'twenty-five'], [3.14, 'three']]) {
  console.log('number-to-words', written, '=', toWords(written));
  assert.equal(toWords(written), words, `${written} is read otherwise now`);
}
JAVASCRIPT
