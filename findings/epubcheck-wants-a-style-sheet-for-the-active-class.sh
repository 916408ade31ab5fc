#!/usr/bin/env bash
# One would guess: `media:active-class` in the package document only names a class, which any reading system may use or
# not, so that a book without style sheets can name one too.
# epubcheck 5.2.1 reports the error CSS-030 for each document that has a media overlay but names no style sheet, even
# if another document has one, and whatever the style sheet contains. The same book without the class has no error.
# It matters to foley: `foley script book.epub -o out.epub` names the class only if all spoken documents have a style
# sheet, and otherwise says that reading systems choose the highlight.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>finding</groupId><artifactId>books</artifactId><version>1</version><packaging>pom</packaging>
<dependencies><dependency><groupId>org.w3c</groupId><artifactId>epubcheck</artifactId><version>5.2.1</version></dependency></dependencies>
</project>
XML
mvn -q -B dependency:copy-dependencies -DoutputDirectory=jars
cat >book.py <<'PY'
import sys, zipfile
name, style, active = sys.argv[1], sys.argv[2] == 'styled', sys.argv[3] == 'class'
html = '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>t</title>%s</head><body>%s</body></html>'
link = '<link rel="stylesheet" href="s.css"/>' if style else ''
css = '<item id="s" href="s.css" media-type="text/css"/>' if style else ''
meta = '<meta property="media:active-class">spoken</meta>' if active else ''
book = zipfile.ZipFile(name, 'w')
book.writestr('mimetype', 'application/epub+zip')
book.writestr('META-INF/container.xml', '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>')
if style: book.writestr('s.css', 'p { margin: 0 }')
book.writestr('c.xhtml', html % (link, '<p id="a">Hello</p>'))
book.writestr('n.xhtml', html % ('', '<nav epub:type="toc"><ol><li><a href="c.xhtml">c</a></li></ol></nav>'))
# One frame of silence in mp3, which lasts 26 ms.
book.writestr('a.mp3', b'\xff\xfb\x90\x00' + bytes(413))
book.writestr('c.smil', '<smil xmlns="http://www.w3.org/ns/SMIL" xmlns:epub="http://www.idpf.org/2007/ops" version="3.0"><body><seq id="q" epub:textref="c.xhtml"><par id="p"><text src="c.xhtml#a"/><audio src="a.mp3" clipBegin="0s" clipEnd="9s"/></par></seq></body></smil>')
book.writestr('b.opf', '''<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="i">x</dc:identifier><dc:title>t</dc:title><dc:language>en</dc:language><meta property="dcterms:modified">2026-01-01T00:00:00Z</meta><meta property="media:duration" refines="#o">9s</meta><meta property="media:duration">9s</meta>%s</metadata><manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml" media-overlay="o"/><item id="n" href="n.xhtml" properties="nav" media-type="application/xhtml+xml"/>%s<item id="o" href="c.smil" media-type="application/smil+xml"/><item id="m" href="a.mp3" media-type="audio/mpeg"/></manifest><spine><itemref idref="c"/></spine></package>''' % (meta, css))
book.close()
PY
check() {
  python3 book.py "$1-$2.epub" "$1" "$2"
  java -cp 'jars/*' com.adobe.epubcheck.tool.Checker "$1-$2.epub" >"$1-$2.txt" 2>&1 || true
  grep -E '^(ERROR|WARNING|FATAL)|^Messages' "$1-$2.txt"
}
check plain class
check plain none
check styled class
grep --quiet 'ERROR(CSS-030)' plain-class.txt
grep --quiet '0 fatals / 0 errors / 0 warnings' plain-none.txt
grep --quiet '0 fatals / 0 errors / 0 warnings' styled-class.txt
