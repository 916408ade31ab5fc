#!/usr/bin/env bash
# One would guess: the best known reader of Word documents in JavaScript shows the text that Word shows.
# mammoth 1.13.0 leaves out deleted text, but shows text that is hidden (w:vanish) and the page numbers of fields. Elements
# that are nested 100,000 levels deep, which fit in an archive of a few KB, overflow the stack.
# It matters to foley: hidden text and page numbers would be spoken and billed. foley reads the XML of Word documents
# itself.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --ignore-scripts --no-audit --no-fund --save-exact mammoth@1.13.0 jszip@3.10.1
cat >run.mjs <<'SCRIPT'
import JSZip from 'jszip';
import mammoth from 'mammoth';
const W = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const kind = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument';
async function textOf(body) {
  const zip = new JSZip();
  zip.file('[Content_Types].xml', '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>');
  zip.file('_rels/.rels', `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="${kind}" Target="word/document.xml"/></Relationships>`);
  zip.file('word/document.xml', `<w:document xmlns:w="${W}"><w:body>${body}</w:body></w:document>`);
  const buffer = await zip.generateAsync({ type: 'nodebuffer', compression: 'DEFLATE' });
  return (await mammoth.extractRawText({ buffer })).value.trim();
}
const run = (text, properties = '') => `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`;
const page = `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${run('7')}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;
const deleted = '<w:del><w:r><w:delText>DELETED</w:delText></w:r></w:del>';
const text = await textOf(`<w:p>${run('a')}${run('HIDDEN', '<w:vanish/>')}${deleted}${page}</w:p>`);
const deep = await textOf('<w:ins>'.repeat(100_000) + '</w:ins>'.repeat(100_000)).catch((error) => error.name);
console.log({ text, deep });
process.exit(text === 'aHIDDEN7' && deep === 'RangeError' ? 0 : 1);
SCRIPT
node run.mjs
