import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { SoundProblem } from '../../audio/decode.ts';
import type { MeasuredSound } from '../../audio/measure.ts';
import { measureSound } from '../../audio/measure.ts';
import { describeDuration } from '../../audio/verify.ts';
import type { CaptionFormat } from '../../captions/caption-files.ts';
import { sha256 } from '../../durable/checksum.ts';
import { hasErrno } from '../../durable/file-failures.ts';
import type { FileDeps } from '../../durable/files.ts';
import type { Output } from '../../durable/output.ts';
import { openOutput } from '../../durable/publish.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { counted } from '../../text/display.ts';
import { captionNames } from '../run/aligned-speaker.ts';
import type { ItemResult } from '../run/run-batch.ts';
import type { Tally } from '../run/tally.ts';
import type { Report } from './report.ts';

export interface PageReportOptions extends FileDeps {
  readonly file: string;
  /** The folder of the outputs, absolute; and as the person wrote it. */
  readonly outputDir: string;
  readonly title: string;
  /** The captions that the outputs have beside them. */
  readonly captions: readonly CaptionFormat[];
  /** Told when sound is left out because the page would be too large to open. */
  readonly onTooLarge: () => void;
}

/** Of all sound in a page: browsers read the whole of it before they show anything. */
const AUDIO_BYTES_MAX = 512 * 1024 * 1024;
/** How many bars a waveform has. */
const WAVEFORM_BARS = 240;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  wav: 'audio/wav',
};

/**
 * Opens a report for people: one page with the text, the sound, its waveform and captions of every item,
 * which needs nothing but itself.
 */
export async function openPageReport(options: PageReportOptions): Promise<Report> {
  const output = await openOutput({ ...options, path: options.file });
  await output.write(Buffer.from(await pageStart(options.title)));
  return new PageReport(output, options);
}

class PageReport implements Report {
  readonly #output: Output;
  readonly #options: PageReportOptions;
  #items = 0;
  #audioBytes = 0;

  constructor(output: Output, options: PageReportOptions) {
    this.#output = output;
    this.#options = options;
  }

  async add(result: ItemResult): Promise<void> {
    const { creditsUsed, error, item, output, status } = result;
    const audio = output === null ? undefined : await this.#soundOf(output);
    const sound = audio?.sound;
    const levels = sound?.levels;
    await this.#write('item', {
      index: item.index,
      id: item.id,
      mark: audio === undefined ? item.id : `${audio.sha256} ${audio.spokenAt}`,
      status,
      text: item.order.text,
      output,
      problem: error?.message ?? null,
      audio: audio?.id ?? null,
      type: MEDIA_TYPES[item.order.format] ?? '',
      durationMs: levels?.durationMs ?? 0,
      waveform: levels?.waveform(WAVEFORM_BARS).map((level) => Math.round(level * 100) / 100) ?? [],
      cues: output === null ? [] : await this.#cuesOf(output),
      facts: factsOf({ id: item.id, output, creditsUsed }, sound),
    });
  }

  async publish({ creditsUsed, done, failed, skipped }: Tally, isComplete: boolean): Promise<void> {
    const counts = `${done} done, ${failed} failed, ${skipped} done before, ${counted(creditsUsed, 'credit')} used`;
    const line = isComplete ? counts : `${counts}; not all were tried`;
    const { title } = this.#options;
    await this.#write('summary', { title, line });
    await this.#output.write(Buffer.from(await pageEnd()));
    await this.#output.publish();
  }

  abandon(): Promise<void> {
    return this.#output.abandon();
  }

  #write(name: 'item' | 'summary', data: object): Promise<void> {
    return this.#output.write(Buffer.from(embedded(name, data)));
  }

  #cuesOf(output: string): ReturnType<typeof cuesBeside> {
    const { captions, files, outputDir } = this.#options;
    return cuesBeside(path.join(outputDir, output), captions, files);
  }

  /** Measures the sound of an output, and puts it into the page. */
  async #soundOf(name: string): Promise<EmbeddedSound | undefined> {
    const { files, onTooLarge, outputDir } = this.#options;
    const file = path.join(outputDir, name);
    try {
      const bytes = await files.readFile(file);
      const wasRoom = this.#audioBytes <= AUDIO_BYTES_MAX;
      this.#audioBytes += bytes.length;
      const hasRoom = this.#audioBytes <= AUDIO_BYTES_MAX;
      if (wasRoom && !hasRoom) onTooLarge();
      const id = hasRoom ? `audio-${(this.#items += 1)}` : undefined;
      if (id !== undefined) {
        const start = `<script type="text/plain" id="${id}">`;
        await this.#output.write(Buffer.from(`${start}${bytes.toString('base64')}</script>\n`));
      }
      const { mtimeMs } = await files.stat(file);
      const hash = sha256(bytes).slice(0, 16);
      return {
        id,
        sha256: hash,
        spokenAt: Math.round(mtimeMs),
        sound: await this.#measured(file, bytes.length),
      };
    } catch (error) {
      if (hasErrno(error, 'ENOENT', 'EACCES')) return undefined;
      throw error;
    }
  }

  async #measured(file: string, size: number): Promise<MeasuredSound | undefined> {
    const handle = await this.#options.files.open(file, 'r');
    try {
      return await measureSound({ fd: handle.fd, size }, NEVER);
    } catch (error) {
      // A player may still know what to do with it.
      if (error instanceof SoundProblem) return undefined;
      throw error;
    } finally {
      await handle.close();
    }
  }
}

const NEVER = new AbortController().signal;

interface EmbeddedSound {
  readonly id: string | undefined;
  /** With the time at which it was made, in milliseconds since the epoch, it identifies the sound under any name. */
  readonly sha256: string;
  readonly spokenAt: number;
  readonly sound: MeasuredSound | undefined;
}

function factsOf(
  {
    creditsUsed,
    id,
    output,
  }: { readonly id: string; readonly output: string | null; readonly creditsUsed: number | null },
  sound: MeasuredSound | undefined,
): string[] {
  const { levels, loudness } = sound ?? {};
  return [
    id,
    output === id ? null : output,
    levels === undefined ? null : describeDuration(levels.durationMs),
    loudness === undefined ? null : `${loudness.toFixed(1)} LUFS`,
    levels !== undefined && levels.clipped > 0 ? 'clipped' : null,
    creditsUsed === null ? null : counted(creditsUsed, 'credit'),
  ].filter((fact) => fact !== null);
}

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
    `style-src 'sha256-${policyHash(style)}'`,
    `script-src 'sha256-${policyHash(script)}'`,
    'media-src blob:',
    `base-uri 'none'`,
    `form-action 'none'`,
  ].join('; ');
}

function policyHash(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function asset(name: string): Promise<string> {
  // Sources (`src/batch/report/`) are one folder deeper than chunks (`dist/chunks/`).
  return readFile(new URL(`../../assets/${name}`, import.meta.url), 'utf8');
}

/** A caption of a page. */
export interface ShownCue {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
}

/** The captions that foley wrote beside an output; none where there are no subtitles. */
export async function cuesBeside(
  output: string,
  formats: readonly CaptionFormat[],
  files: Pick<FileSystem, 'readFile'>,
): Promise<ShownCue[]> {
  const subtitles = formats.filter((format) => format !== 'json');
  const [name] = captionNames(output, subtitles);
  if (name === undefined) return [];
  try {
    return readCues((await files.readFile(name)).toString());
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'EACCES')) return [];
    throw error;
  }
}

const TIMES = /^(\d+:\d\d:\d\d[.,]\d{3}|\d\d:\d\d\.\d{3}) --> (\S+)/;

/** Reads SubRip and WebVTT as foley writes them; words with times of their own lose those. */
function readCues(subtitles: string): ShownCue[] {
  return subtitles.split('\n\n').flatMap((block) => {
    const lines = block.split('\n');
    const at = lines.findIndex((line) => TIMES.test(line));
    const [, start = '', end = ''] = TIMES.exec(lines[at] ?? '') ?? [];
    if (at === -1) return [];
    const text = lines
      .slice(at + 1)
      .join('\n')
      .trimEnd();
    return [{ startMs: milliseconds(start), endMs: milliseconds(end), text: unmarked(text) }];
  });
}

function milliseconds(time: string): number {
  const [seconds = 0, minutes = 0, hours = 0] = time
    .replace(',', '.')
    .split(':')
    .map(Number)
    .toReversed();
  return Math.round((hours * 3600 + minutes * 60 + seconds) * 1000);
}

function unmarked(text: string): string {
  const plain = text.replaceAll(/<[^>]*>/g, '');
  return plain.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
