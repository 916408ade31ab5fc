import { cp, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { installOnce } from '../../harness/install-once.ts';
import { requireTool } from '../../harness/require-tool.ts';

const OWN = fileURLToPath(new URL('epubcheck', import.meta.url));

/** A message of epubcheck: its id, its severity and the file of the book. */
export interface BookMessage {
  readonly id: string;
  readonly severity: string;
  readonly file: string;
}

/**
 * Checks books with epubcheck, which Maven installs once. All books share one Java process, because starting takes
 * longer than a book.
 * @param books paths of the books; a JSON file is written beside each
 */
export async function checkBooks(books: readonly string[]): Promise<readonly BookMessage[][]> {
  const [java, maven] = [requireTool('java'), requireTool('mvn')];
  const jars = path.join(await install(maven), '*');
  await execa(java, ['-cp', jars, path.join(OWN, 'Check.java'), ...books]);
  return Promise.all(
    books.map(async (book) => {
      const report = JSON.parse(await readFile(`${book}.json`, 'utf8'));
      const messages: BookMessage[] = [];
      for (const { ID: id, locations, severity } of report.messages) {
        for (const { path: file } of locations) messages.push({ id, severity, file });
      }
      return messages;
    }),
  );
}

async function install(maven: string): Promise<string> {
  return installOnce('epubcheck-5.2.1', async (folder) => {
    await cp(path.join(OWN, 'pom.xml'), path.join(folder, 'pom.xml'));
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
    await execa(maven, ['-q', '-B', ...goal], { cwd: folder });
  });
}
