/**
 * Removes the descriptions of sounds from subtitles (docs/reading-text.md). Every line keeps its number, and names of
 * speakers stay:
 * - a text in square brackets, such as `[MUSIC]`
 * - a text in parentheses, such as `(sighs)`: at the beginning of a cue, after a dash or the name of a speaker, on rows of
 *   its own, or after the last sentence of a cue
 * - a text after a note of music, up to the next one or the end of the cue
 */
export function withoutSounds(subtitles: string): string {
  const blocks: string[][] = [[]];
  for (const line of subtitles.split(/\r\n|\n|\r/)) {
    if (line.trim() === '' || TIMES.test(line)) blocks.push([line], []);
    else blocks.at(-1)?.push(line);
  }
  return blocks.flatMap((rows) => withoutSoundsIn(rows)).join('\n');
}

// The times of a cue, or of a line of lyrics.
const TIMES = /-->|^\d{1,9}:\d\d:\d\d\.\d{3},\d|^\s{0,20}\[\d{1,4}:\d/;
const NOTE = /[♪♫]/;

function withoutSoundsIn(rows: readonly string[]): readonly string[] {
  const text = rows.join('\n');
  const spoken = text
    // The times of lyrics have no letters.
    .replaceAll(/\[[^[\]]*\]/g, (sound) => (/[\p{L}♪♫]/u.test(sound) ? emptied(sound) : sound))
    .replaceAll(/\([^()]*\)/g, (sound, at: number, whole: string) => {
      const isSound = NOTE.test(sound) || isAside(whole, at, at + sound.length);
      return isSound ? emptied(sound) : sound;
    })
    .replaceAll(/[♪♫][^♪♫]*(?:[♪♫]|$)/g, (sound) => emptied(sound));
  return spoken === text ? rows : withoutLonelyNames(rows, spoken.split('\n'));
}

function emptied(sound: string): string {
  return sound.replaceAll(/[^\n]/g, '');
}

// More markup around a sound is not usual.
const CONTEXT = 200;
const DASH_OR_NAME = /^(?:[-–—»>]+\s*)?(?:\p{Lu}[^:\n]{0,40}:)?$/u;

function isAside(text: string, start: number, end: number): boolean {
  const near = text.slice(Math.max(0, start - CONTEXT), start);
  const row = start - near.length + near.lastIndexOf('\n') + 1;
  const before = withoutMarkup(text.slice(row, start));
  const after = withoutMarkup(text.slice(end, end + CONTEXT));
  if (DASH_OR_NAME.test(before)) {
    const isOwnRow = after === '' || /^\s*\n/.test(text.slice(end, end + CONTEXT));
    return before !== '' || isOwnRow || (row < CONTEXT && withoutMarkup(text.slice(0, row)) === '');
  }
  return after === '' && /[.!?…"”’]$/.test(before);
}

function withoutMarkup(text: string): string {
  return text.replaceAll(/<[^<>]*>|\{[^{}]*\}/g, '').trim();
}

// The name of a speaker who only makes sounds has no text.
function withoutLonelyNames(rows: readonly string[], spoken: readonly string[]): readonly string[] {
  return spoken.map((row, index) => {
    if (row === rows[index] || !DASH_OR_NAME.test(withoutMarkup(row))) return row;
    const next = withoutMarkup(spoken[index + 1] ?? '');
    const continues = next !== '' && !/^(?:[-–—»>]|\p{Lu}[^:\n]{0,40}:)/u.test(next);
    return continues ? row : '';
  });
}
