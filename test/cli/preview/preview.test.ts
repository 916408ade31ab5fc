import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { drawPreview, previewProtocol, sixel } from '../../../commands/image/preview.ts';
import type { PreviewProtocol } from '../../../commands/image/preview.ts';

const ESC = '\u001b';

describe('the image protocol of a terminal', () => {
  test.each<[PreviewProtocol | undefined, Record<string, string>]>([
    ['kitty', { TERM: 'xterm-kitty' }],
    ['kitty', { TERM: 'xterm-256color', KITTY_WINDOW_ID: '1' }],
    ['kitty', { TERM: 'xterm-ghostty', TERM_PROGRAM: 'ghostty' }],
    ['iterm2', { TERM: 'xterm-256color', TERM_PROGRAM: 'iTerm.app' }],
    ['iterm2', { TERM: 'xterm-256color', TERM_PROGRAM: 'WezTerm' }],
    ['iterm2', { TERM: 'xterm-256color', LC_TERMINAL: 'iTerm2' }],
    ['sixel', { TERM: 'foot' }],
    ['sixel', { TERM: 'xterm-sixel' }],
    ['blocks', { TERM: 'xterm-256color' }],
    ['blocks', { TERM: 'tmux-256color', KITTY_WINDOW_ID: '1', TMUX: '/tmp/x' }],
    ['blocks', { TERM: 'screen', TERM_PROGRAM: 'iTerm.app' }],
    [undefined, { TERM: 'dumb', KITTY_WINDOW_ID: '1' }],
  ])('%s: %j', (way, env) => {
    expect(previewProtocol(env, true)).toBe(way);
  });

  test('is not colored blocks without colors', () => {
    expect(previewProtocol({ TERM: 'xterm-256color' }, false)).toBeUndefined();
    expect(previewProtocol({ TERM: 'xterm-kitty' }, false)).toBe('kitty');
  });
});

/** Two halves, one above the other, in colors that every way can show as they are. */
const picture = await sharp({
  create: { width: 200, height: 50, channels: 3, background: '#ff0000' },
})
  .extend({ bottom: 50, background: '#0000ff' })
  .png()
  .toBuffer();

async function drawn(way: PreviewProtocol, columns = 40): Promise<string> {
  const text = await drawPreview(picture, way, { columns });
  if (text === undefined) throw new Error('nothing was drawn');
  return text;
}

describe('an image', () => {
  test('is drawn as half blocks, no wider than the terminal', async () => {
    const lines = (await drawn('blocks', 20)).trimEnd().split('\n');
    expect(lines).toHaveLength(5);
    const red = `${ESC}[38;2;255;0;0;48;2;255;0;0m▀`;
    const blue = `${ESC}[38;2;0;0;255;48;2;0;0;255m▀`;
    expect(lines[0]).toBe(`${red.repeat(20)}${ESC}[0m`);
    expect(lines[4]).toBe(`${blue.repeat(20)}${ESC}[0m`);
  });

  test('is sent to kitty as a PNG in chunks', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
    const large = await sharp({
      create: { width: 400, height: 300, channels: 3, background: 'red', noise },
    })
      .png()
      .toBuffer();
    const text = (await drawPreview(large, 'kitty', { columns: 80 })) ?? '';
    const parts = text.trimEnd().split(`${ESC}\\`).slice(0, -1);
    expect(parts.length).toBeGreaterThan(2);
    const chunks = parts.map((part, index) => {
      const [, keys = '', data = ''] = /^\u001b_G([^;]*);([\w+/=]*)$/.exec(part) ?? [];
      expect(keys.split(',')).toContain(`m=${index === parts.length - 1 ? 0 : 1}`);
      expect(data.length).toBeLessThanOrEqual(4_096);
      return data;
    });
    expect(parts[0]).toContain('a=T,f=100');
    const { format, width } = await sharp(Buffer.from(chunks.join(''), 'base64')).metadata();
    expect([format, width]).toEqual(['png', 400]);
  });

  test('is sent to iTerm2 as an inline file', async () => {
    const text = await drawn('iterm2');
    const match = /^\u001b\]1337;File=([^:]*):([\w+/=]+)\u0007\n$/.exec(text);
    const data = Buffer.from(match?.[2] ?? '', 'base64');
    expect(match?.[1]).toBe(`inline=1;size=${data.length};width=20;preserveAspectRatio=1`);
    expect((await sharp(data).metadata()).width).toBe(200);
  });

  test('is drawn in bands of six rows for sixel', async () => {
    const { at, height, width } = readSixel(await drawn('sixel'));
    expect([width, height]).toEqual([200, 100]);
    expect([at(0, 0), at(199, 49), at(0, 50), at(199, 99)]).toEqual([
      '100;0;0',
      '100;0;0',
      '0;0;100',
      '0;0;100',
    ]);
  });

  test('of an unknown format is not drawn', async () => {
    const none = Buffer.from('This is no picture.');
    expect(await drawPreview(none, 'blocks', { columns: 80 })).toBeUndefined();
  });
});

test('sixel encodes every pixel, also in a partial band', () => {
  const [width, height] = [5, 8];
  const colors = Array.from({ length: width * height }, (_, index) => (index * 7) % 6);
  const rgb = Uint8Array.from(colors.flatMap((step) => [step * 51, 255 - step * 51, 0]));
  const { at } = readSixel(sixel({ width, height, rgb }));
  for (const [index, step] of colors.entries()) {
    expect(at(index % width, Math.floor(index / width))).toBe(`${step * 20};${100 - step * 20};0`);
  }
});

/** Reads what a terminal would draw: an independent second writing of the format. */
function readSixel(text: string) {
  const match = /^\u001bPq"1;1;(\d+);(\d+)(.*)\u001b\\\n$/s.exec(text);
  if (match === null) throw new Error('not sixel');
  const [, width = '', height = '', rest = ''] = match;
  const palette = new Map<string, string>();
  const pixels = new Map<string, string>();
  let [x, top, color] = [0, 0, ''];
  const body = rest.replaceAll(/#(\d+);2;(\d+;\d+;\d+)/g, (_, name: string, value: string) => {
    palette.set(name, value);
    return '';
  });
  for (const [token, name, count, repeated] of body.matchAll(/#(\d+)|!(\d+)(.)|[$-]|./gs)) {
    if (name !== undefined) color = name;
    else if (token === '$' || token === '-') [x, top] = [0, token === '-' ? top + 6 : top];
    else {
      const bits = (repeated ?? token).charCodeAt(0) - 63;
      for (let turn = 0; turn < Number(count ?? 1); turn += 1, x += 1) {
        for (let row = 0; row < 6; row += 1) {
          if ((bits & (1 << row)) !== 0) pixels.set(`${x},${top + row}`, palette.get(color) ?? '?');
        }
      }
    }
  }
  return {
    width: Number(width),
    height: Number(height),
    at: (column: number, row: number) => pixels.get(`${column},${row}`),
  };
}
