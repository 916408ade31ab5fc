import { readFile } from 'node:fs/promises';

/** A file of the page: where it is in the package, and what it is. */
interface PageFile {
  readonly file: string;
  readonly type: string;
}

const STYLE = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

const FILES: ReadonlyMap<string, PageFile> = new Map([
  ['/', { file: 'assets/page/index.html', type: 'text/html; charset=utf-8' }],
  ['/page/palette.css', { file: 'assets/palette.css', type: STYLE }],
  ['/page/style.css', { file: 'assets/page/style.css', type: STYLE }],
  ['/page/app.js', { file: 'assets/page/app.js', type: SCRIPT }],
  ['/page/player.js', { file: 'assets/page/player.js', type: SCRIPT }],
  ['/page/speech.js', { file: 'assets/page/speech.js', type: SCRIPT }],
]);

/** A file of the page by the path of its request; `undefined` for any other. Nothing in it is secret. */
export async function pageFile(path: string): Promise<Response | undefined> {
  const found = FILES.get(path);
  if (found === undefined) return undefined;
  // Sources (`src/service/page/`) are one folder deeper than chunks (`dist/chunks/`).
  const content = await readFile(new URL(`../../${found.file}`, import.meta.url));
  return new Response(content, {
    headers: { 'Content-Type': found.type, 'Content-Security-Policy': POLICY },
  });
}

/** Everything the page uses comes from here; it is shown in no other page. */
const POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `connect-src 'self'`,
  `media-src 'self' blob:`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ');
