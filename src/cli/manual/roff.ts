/** Words of roff: what is not ours to format is escaped here, and nowhere else. */

const LINE_BYTES = 79;

/** Text as roff prints it: no escape, request or hyphenation comes out of it. */
export function plain(text: string): string {
  const escaped = text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll(/[^\x20-\x7e\n]/gu, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return `\\[u${code.toString(16).toUpperCase().padStart(4, '0')}]`;
    });
  // A line that begins with a dot or a quote would be a request.
  return escaped.replaceAll(/^[.']/gm, String.raw`\&$&`);
}

export function bold(text: string): string {
  return `\\fB${plain(text)}\\fR`;
}

export function italic(text: string): string {
  return `\\fI${plain(text)}\\fR`;
}

/** A term and what it means. The term is in roff already. */
export function item(term: string, meaning: string): string {
  return `.TP\n${term}\n${flowing(meaning)}`;
}

export function section(title: string, body: string): string {
  return `.SH ${plain(title.toUpperCase())}\n${body}`;
}

export function subsection(title: string, body: string): string {
  return `.SS ${plain(title)}\n${body}`;
}

/** Lines that stay as they are. */
export function verbatim(text: string): string {
  return `.nf\n${plain(text)}\n.fi`;
}

/** Paragraphs, each begun anew. The first one follows a heading, which needs no request. */
export function paragraphs(texts: readonly string[]): string {
  return texts.map(flowing).join('\n.PP\n');
}

/** Text on lines that an editor shows whole; roff fills them anew. */
function flowing(text: string): string {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? '';
    const longer = line === '' ? word : `${line} ${word}`;
    if (plain(longer).length > LINE_BYTES && line !== '') lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return plain(lines.join('\n'));
}
