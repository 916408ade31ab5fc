import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** Where the items are in the template, between its two parts. */
const ITEMS = '#{items}';

/** The beginning of the page: all before the first item. */
export async function pageStart(title: string): Promise<string> {
  const [template, palette, layout, script] = await Promise.all([
    asset('report/report.html'),
    asset('palette.css'),
    asset('report/report.css'),
    asset('report/report.js'),
  ]);
  const style = palette + layout;
  const parts: Readonly<Record<string, string>> = {
    title: escaped(title),
    style: `<style>${style}</style>`,
    policy: policyOf(style, script),
  };
  const [start = ''] = template.split(ITEMS);
  return start.replaceAll(/#\{(\w+)\}/g, (hole, name: string) => parts[name] ?? hole);
}

/** The end of the page, behind the last item. */
export async function pageEnd(): Promise<string> {
  const [, end = ''] = (await asset('report/report.html')).split(ITEMS);
  return `<script type="module">${await asset('report/report.js')}</script>${end}`;
}

/** Data for the page's own program. `<` would end the element that it is in. */
export function embedded(name: 'item' | 'summary', data: object): string {
  const json = JSON.stringify(data).replaceAll('<', String.raw`\u003c`);
  const mark = name === 'item' ? 'class="item"' : `id="${name}"`;
  return `<script type="application/json" ${mark}>${json}</script>\n`;
}

/** Nothing may be loaded from anywhere, and nothing runs but what this version of foley put here. */
function policyOf(style: string, script: string): string {
  return [
    `default-src 'none'`,
    `style-src 'sha256-${sha256(style)}'`,
    `script-src 'sha256-${sha256(script)}'`,
    'media-src blob:',
    `base-uri 'none'`,
    `form-action 'none'`,
  ].join('; ');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function asset(name: string): Promise<string> {
  // Sources (`src/batch/report/`) are one folder deeper than chunks (`dist/chunks/`).
  return readFile(new URL(`../../assets/${name}`, import.meta.url), 'utf8');
}
