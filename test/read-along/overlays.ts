import { posix } from 'node:path';
import { readXml } from '../../src/text/formats/xml.ts';
import { openArchive } from '../../src/text/formats/archive.ts';

/** A clip of a media overlay, and the text of its element. */
export interface OverlayClip {
  readonly id: string;
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

export interface ReadOverlay {
  readonly document: string;
  readonly audioFile: string;
  readonly audio: Buffer;
  readonly durationMs: number;
  readonly clips: readonly OverlayClip[];
}

/** Reads the media overlays of a book as a reading system does: from the package document to the clips. */
export async function overlaysOf(book: Uint8Array): Promise<readonly ReadOverlay[]> {
  const archive = await openArchive(book, 'an EPUB', 'the book');
  const opf = archive.names.find((name) => name.endsWith('.opf')) ?? '';
  const items: Record<string, string>[] = [];
  const spine: string[] = [];
  const durations = new Map<string, number>();
  let refined = '';
  readXml(await archive.read(opf), {
    open(name, attributes) {
      if (name === 'item') items.push(attributes);
      if (name === 'itemref') spine.push(attributes['idref'] ?? '');
      refined = attributes['property'] === 'media:duration' ? (attributes['refines'] ?? 'all') : '';
    },
    text(text) {
      if (refined !== '' && text.trim() !== '') durations.set(refined, clockMs(text));
      refined = '';
    },
  });
  const byId = new Map(items.map((item) => [item['id'], item]));
  const overlays: ReadOverlay[] = [];
  for (const { href = '', 'media-overlay': overlay } of spine.map((id) => byId.get(id) ?? {})) {
    const smil = byId.get(overlay)?.['href'];
    if (smil === undefined) continue;
    const document = posix.join(posix.dirname(opf), decodeURIComponent(href));
    const smilFile = posix.join(posix.dirname(opf), smil);
    const texts = textsOf(await archive.read(document));
    const clips: OverlayClip[] = [];
    let [id, audioFile] = ['', ''];
    readXml(await archive.read(smilFile), {
      open(name, { clipBegin = '', clipEnd = '', src = '' }) {
        if (name === 'text') {
          const [file = '', fragment = ''] = src.split('#');
          const target = posix.join(posix.dirname(smilFile), decodeURIComponent(file));
          if (target !== document) throw new Error(`${smilFile} names ${target}, not ${document}`);
          id = fragment;
        }
        if (name !== 'audio') return;
        audioFile = posix.join(posix.dirname(smilFile), src);
        const text = texts.get(id);
        if (text === undefined) throw new Error(`${document} has no element with the id ${id}`);
        clips.push({ id, text, startMs: clockMs(clipBegin), endMs: clockMs(clipEnd) });
      },
    });
    overlays.push({
      document,
      audioFile,
      audio: Buffer.from(await archive.readBytes(audioFile)),
      durationMs: durations.get(`#${overlay}`) ?? NaN,
      clips,
    });
  }
  return overlays;
}

// Returns the text of each element that has an id.
function textsOf(xhtml: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const open: (string | undefined)[] = [];
  readXml(xhtml, {
    open(_name, { alt = '', id }) {
      open.push(id);
      if (id !== undefined) texts.set(id, '');
      add(alt);
    },
    close: () => void open.pop(),
    text: add,
  });
  function add(text: string): void {
    for (const id of open) if (id !== undefined) texts.set(id, `${texts.get(id) ?? ''}${text}`);
  }
  return new Map(Array.from(texts, ([id, text]) => [id, text.replaceAll(/\s+/g, ' ').trim()]));
}

function clockMs(value: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = value.split(':').map(Number);
  return Math.round(((hours * 60 + minutes) * 60 + seconds) * 1_000);
}
