import type { SpokenText } from '../document.ts';
import { durationMs } from '../duration.ts';
import { BlockWriter } from './block-writer.ts';
import { DocumentError } from './document-error.ts';
import { readXml } from './xml.ts';

// Milliseconds of the pause for each `strength` of `<break>`.
const STRENGTHS: ReadonlyMap<string, number> = new Map([
  ['none', 0],
  ['x-weak', 100],
  ['weak', 200],
  ['medium', 400],
  ['strong', 800],
  ['x-strong', 1_200],
]);

const MAX_PAUSE_MS = 60_000;

/**
 * Reads SSML. Allows only the elements `speak`, `p`, `s`, `break` and `sub`.
 * @throws DocumentError that names the line
 */
export function readSsml(ssml: string): SpokenText {
  const writer = new BlockWriter();
  const open: string[] = [];
  let alias: { readonly spoken: string; written: string } | undefined;
  const endBlock = (): void => writer.end(open.at(-1) === 's' ? 'item' : 'paragraph');
  readXml(ssml, {
    open(name, attributes, line) {
      checkPlace(name, open.at(-1), line);
      if (endsBlock(name)) endBlock();
      open.push(name);
      if (name === 'break') {
        writer.pause(breakLength(attributes, line));
      } else if (name === 'sub') {
        const { alias: spoken } = attributes;
        if (spoken === undefined || spoken.trim() === '') {
          throw new DocumentError('<sub> has no alias', {
            line,
            hint: 'Write <sub alias="spoken">written</sub>.',
          });
        }
        alias = { spoken, written: '' };
      }
    },
    text(text) {
      if (alias === undefined) writer.text(text);
      else alias.written += text;
    },
    close(name) {
      if (name === 'sub' && alias !== undefined) {
        writer.alias(alias.written, alias.spoken);
        alias = undefined;
      }
      if (endsBlock(name)) endBlock();
      open.pop();
    },
  });
  return writer.finish();
}

const ELEMENTS = new Set(['speak', 'p', 's', 'break', 'sub']);

function endsBlock(name: string): boolean {
  return name === 'p' || name === 's';
}

function checkPlace(name: string, parent: string | undefined, line: number): void {
  if (!ELEMENTS.has(name)) {
    throw new DocumentError(`the element <${name}> is not supported`, {
      line,
      hint: 'Supported elements: speak, p, s, break, sub.',
    });
  }
  if ((parent === undefined) !== (name === 'speak')) {
    throw new DocumentError(
      parent === undefined ? `the root element is <${name}>` : `<speak> is inside <${parent}>`,
      { line, hint: 'Use <speak> as the root element, once.' },
    );
  }
  if (parent === 'break' || parent === 'sub') {
    throw new DocumentError(`<${name}> is inside <${parent}>, which has no elements`, { line });
  }
}

function breakLength(
  { strength = 'medium', time }: Readonly<Record<string, string>>,
  line: number,
): number {
  const ms = time === undefined ? STRENGTHS.get(strength) : timeOf(time);
  if (ms !== undefined && ms <= MAX_PAUSE_MS) return ms;
  const strengths = [...STRENGTHS.keys()].join(', ');
  throw time === undefined
    ? new DocumentError(`<break strength="${strength}"> is not supported`, {
        line,
        hint: `Use one of: ${strengths}.`,
      })
    : new DocumentError(`<break time="${time}"> is out of range`, {
        line,
        hint: 'Use 0s to 60s, such as 500ms or 1.5s.',
      });
}

// A time of CSS, such as `500ms`, `.5s` or `+1s`.
function timeOf(time: string): number | undefined {
  const [, value = ''] = /^\+?((?:\d+|\d*\.\d+)m?s)$/.exec(time.trim()) ?? [];
  return durationMs(value.replace(/^\./, '0.'));
}
