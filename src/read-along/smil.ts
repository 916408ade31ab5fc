import { posix } from 'node:path';

/** An element of a document, and the part of the audio during which it is highlighted. */
export interface Clip {
  readonly id: string;
  /** In whole milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Creates clips that cover the audio of a document without gaps, because reading systems skip the sound between clips.
 * A clip lasts until the next one begins.
 * @param parts the elements in order, with the times at which they begin
 * @param durationMs length of the audio, at least a millisecond for each element
 */
export function clipsOf(
  parts: readonly { readonly id: string; readonly ms: number }[],
  durationMs: number,
): readonly Clip[] {
  const end = Math.floor(durationMs);
  let earliest = 0;
  const starts = parts.map(({ ms }, index) => {
    const latest = end - (parts.length - index);
    const start = index === 0 ? 0 : Math.min(latest, Math.max(earliest, Math.round(ms)));
    // A clip must not be empty.
    earliest = start + 1;
    return start;
  });
  return parts.map(({ id }, index) => ({
    id,
    startMs: starts[index] ?? 0,
    endMs: starts[index + 1] ?? end,
  }));
}

/**
 * Formats a media overlay document (EPUB 3.3, section 9).
 * @param text reference to the document, relative to the overlay
 * @param audio reference to the audio file, relative to the overlay
 */
export function smilDocument(text: string, audio: string, clips: readonly Clip[]): string {
  const [document, source] = [escapeXml(text), escapeXml(audio)];
  const rows = clips.map(({ endMs, id, startMs }, index) => {
    const times = `clipBegin="${clockValue(startMs)}" clipEnd="${clockValue(endMs)}"`;
    return `      <par id="par-${index + 1}">
        <text src="${document}#${escapeXml(id)}"/>
        <audio src="${source}" ${times}/>
      </par>\n`;
  });
  return `<?xml version="1.0" encoding="utf-8"?>
<smil xmlns="http://www.w3.org/ns/SMIL" xmlns:epub="http://www.idpf.org/2007/ops" version="3.0">
  <body>
    <seq id="seq-1" epub:textref="${document}">
${rows.join('')}    </seq>
  </body>
</smil>
`;
}

/** Formats a time as a full clock value of SMIL, such as `0:01:02.345`. */
export function clockValue(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return `${hours}:${padded(minutes, 2)}:${padded(seconds % 60, 2)}.${padded(ms % 1_000, 3)}`;
}

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

/** Escapes a text for an attribute or the content of an element. */
export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Returns the reference to a file of a book, relative to the file `from`, as an encoded URL. */
export function referenceTo(file: string, from: string): string {
  const relative = posix.relative(posix.dirname(from), file);
  return relative.split('/').map(encodeURIComponent).join('/');
}
