/** Returns the ids of the chapters that the tables of contents in an ID3v2.3 tag list, in order. */
export function listedChapters(tag: Buffer): readonly string[] {
  const tables = tablesOfContents(tag);
  const listed = (id: string): readonly string[] =>
    tables.get(id)?.flatMap((entry) => (tables.has(entry) ? listed(entry) : [entry])) ?? [];
  return listed('toc');
}

/** Returns the entries of each table of contents in an ID3v2.3 tag (ID3v2 Chapter Frame Addendum, section 3.2). */
function tablesOfContents(tag: Buffer): ReadonlyMap<string, readonly string[]> {
  const tables = new Map<string, readonly string[]>();
  for (let at = 10; at + 10 <= tag.length && tag[at] !== 0; at += 10 + tag.readUInt32BE(at + 4)) {
    if (tag.toString('latin1', at, at + 4) !== 'CTOC') continue;
    const content = tag.subarray(at + 10, at + 10 + tag.readUInt32BE(at + 4));
    const end = content.indexOf(0);
    // Flags and the number of entries follow the id.
    const count = content[end + 2] ?? 0;
    const entries = content
      .toString('latin1', end + 3)
      .split('\0')
      .slice(0, count);
    tables.set(content.toString('latin1', 0, end), entries);
  }
  return tables;
}
