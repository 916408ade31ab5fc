import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { UnusableAudioError } from '../../audio/sound.ts';
import type { MeasuredSound } from '../../audio/measure.ts';
import { measureSound } from '../../audio/measure.ts';
import { describeDuration } from '../../audio/verify.ts';
import type { CaptionFormat } from '../../captions/caption-files.ts';
import { sha256 } from '../../durable/checksum.ts';
import { hasErrno, UnsafeFile } from '../../durable/file-failures.ts';
import type { System } from '../../system/system.ts';
import type { Output } from '../../durable/output.ts';
import { openOutput } from '../../durable/publish.ts';
import { openRegularFile, readRegularFile } from '../../durable/regular-file.ts';
import { counted } from '../../text/display.ts';
import { captionNames } from '../run/item-captions.ts';
import { describeUnspoken } from '../../paid/unspoken.ts';
import type { ItemResult } from '../run/run-batch.ts';
import type { Report, Tally } from './report.ts';

interface PageReportOptions {
  readonly system: System;
  readonly file: string;
  readonly outputDir: string;
  readonly title: string;
  readonly captions: readonly CaptionFormat[];
  // Called once if audio is omitted because the page would be too large for a browser.
  readonly onTooLarge: () => void;
}

// Browsers load the entire page before showing anything.
const MAX_AUDIO_BYTES = 512 * 1024 * 1024;
const WAVEFORM_BARS = 240;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  m4b: 'audio/mp4',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  wav: 'audio/wav',
};

/**
 * Opens the HTML report: one self-contained page with the text, audio, waveform and captions of every item.
 * Audio beyond a total of `MAX_AUDIO_BYTES` is left out.
 * @throws Failure of kind `output`
 */
export async function openPageReport(options: PageReportOptions): Promise<Report> {
  const output = await openOutput(options.system, { path: options.file });
  const [template, palette, layout, script] = await Promise.all([
    asset('report/report.html'),
    asset('palette.css'),
    asset('report/report.css'),
    asset('report/report.js'),
  ]);
  const style = palette + layout;
  const parts: Readonly<Record<string, string>> = {
    title: options.title.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
    style: `<style>${style}</style>`,
    policy: contentSecurityPolicy(style, script),
  };
  const [start = '', end = ''] = template.split('#{items}');
  const filled = start.replaceAll(/#\{(\w+)\}/g, (hole, name: string) => parts[name] ?? hole);
  await output.write(Buffer.from(filled));
  return new PageReport(output, options, `<script type="module">${script}</script>${end}`);
}

function asset(name: string): Promise<string> {
  // Sources (`src/batch/report/`) are one folder deeper than chunks (`dist/chunks/`).
  return readFile(new URL(`../../assets/${name}`, import.meta.url), 'utf8');
}

function contentSecurityPolicy(style: string, script: string): string {
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

interface EmbeddedSound {
  readonly id: string | undefined;
  // Identifies the audio by its content and modification time, whatever the name of the file.
  readonly mark: string;
  readonly sound: MeasuredSound | undefined;
}

class PageReport implements Report {
  readonly #output: Output;
  readonly #options: PageReportOptions;
  readonly #end: string;
  #sounds = 0;
  #audioBytes = 0;

  constructor(output: Output, options: PageReportOptions, end: string) {
    this.#output = output;
    this.#options = options;
    this.#end = end;
  }

  async add({ creditsUsed, error, item, output, status, unspoken }: ItemResult): Promise<void> {
    const audio = output === null ? undefined : await this.#embedSound(output);
    const { levels, loudness } = audio?.sound ?? {};
    const facts = [
      item.id,
      output === item.id ? null : output,
      levels === undefined ? null : describeDuration(levels.durationMs),
      loudness === undefined ? null : `${loudness.toFixed(1)} LUFS`,
      levels !== undefined && levels.clipped > 0 ? 'clipped' : null,
      creditsUsed === null ? null : counted(creditsUsed, 'credit'),
    ];
    await this.#writeData('class="item"', {
      index: item.index,
      id: item.id,
      mark: audio?.mark ?? item.id,
      status,
      text: item.order.text,
      output,
      problem:
        error?.message ??
        (unspoken.length === 0 ? null : describeUnspoken(unspoken, { isBrief: true })),
      audio: audio?.id ?? null,
      type: MEDIA_TYPES[item.encoding ?? item.order.format] ?? '',
      durationMs: levels?.durationMs ?? 0,
      waveform: levels?.waveform(WAVEFORM_BARS).map((level) => Math.round(level * 100) / 100) ?? [],
      cues: output === null ? [] : await this.#cuesOf(output),
      facts: facts.filter((fact) => fact !== null),
    });
  }

  async publish({ creditsUsed, done, failed, skipped }: Tally, isComplete: boolean): Promise<void> {
    const counts = `${done} done, ${failed} failed, ${skipped} done before, ${counted(creditsUsed, 'credit')} used`;
    const line = isComplete ? counts : `${counts}; not all were tried`;
    await this.#writeData('id="summary"', { title: this.#options.title, line });
    await this.#output.write(Buffer.from(this.#end));
    await this.#output.publish();
  }

  abandon(): Promise<void> {
    return this.#output.abandon();
  }

  // Escapes `<`, which could end the element.
  #writeData(attribute: string, data: object): Promise<void> {
    const json = JSON.stringify(data).replaceAll('<', String.raw`\u003c`);
    const element = `<script type="application/json" ${attribute}>${json}</script>\n`;
    return this.#output.write(Buffer.from(element));
  }

  async #embedSound(name: string): Promise<EmbeddedSound | undefined> {
    const { files } = this.#options.system;
    const { onTooLarge, outputDir } = this.#options;
    const file = path.join(outputDir, name);
    try {
      const bytes = await readRegularFile(file, files);
      const wasSmall = this.#audioBytes <= MAX_AUDIO_BYTES;
      this.#audioBytes += bytes.length;
      const isSmall = this.#audioBytes <= MAX_AUDIO_BYTES;
      if (wasSmall && !isSmall) onTooLarge();
      const id = isSmall ? `audio-${(this.#sounds += 1)}` : undefined;
      if (id !== undefined) {
        const start = `<script type="text/plain" id="${id}">`;
        await this.#output.write(Buffer.from(`${start}${bytes.toString('base64')}</script>\n`));
      }
      const { mtimeMs } = await files.stat(file);
      const mark = `${sha256(bytes).slice(0, 16)} ${Math.round(mtimeMs)}`;
      return { id, mark, sound: await this.#measure(file, bytes.length) };
    } catch (error) {
      if (isUnusable(error)) return undefined;
      throw error;
    }
  }

  async #measure(file: string, size: number): Promise<MeasuredSound | undefined> {
    const handle = await openRegularFile(file, this.#options.system.files);
    try {
      return await measureSound({ fd: handle.fd, size }, new AbortController().signal);
    } catch (error) {
      // A browser may still play it.
      if (error instanceof UnusableAudioError) return undefined;
      throw error;
    } finally {
      await handle.close();
    }
  }

  async #cuesOf(output: string): Promise<ReportCue[]> {
    const { files } = this.#options.system;
    const { captions, outputDir } = this.#options;
    const subtitles = captions.filter((format) => format !== 'json');
    const [name] = captionNames(path.join(outputDir, output), subtitles);
    if (name === undefined) return [];
    try {
      return readCues((await readRegularFile(name, files)).toString());
    } catch (error) {
      if (isUnusable(error)) return [];
      throw error;
    }
  }
}

function isUnusable(error: unknown): boolean {
  return error instanceof UnsafeFile || hasErrno(error, 'ENOENT', 'EACCES');
}

interface ReportCue {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
}

const CUE = /^(\d+:\d\d:\d\d[.,]\d{3}|\d\d:\d\d\.\d{3}) --> (\S+).*\n?([^]*)/m;

// Reads SubRip or WebVTT that foley wrote without word timings.
function readCues(subtitles: string): ReportCue[] {
  return subtitles.split('\n\n').flatMap((block) => {
    const [cue, start = '', end = '', text = ''] = CUE.exec(block) ?? [];
    if (cue === undefined) return [];
    const plain = text.trimEnd().replaceAll(/<[^>]*>/g, '');
    const decoded = plain.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
    return [{ startMs: milliseconds(start), endMs: milliseconds(end), text: decoded }];
  });
}

function milliseconds(time: string): number {
  const parts = time.replace(',', '.').split(':').map(Number).toReversed();
  const [seconds = 0, minutes = 0, hours = 0] = parts;
  return Math.round((hours * 3600 + minutes * 60 + seconds) * 1000);
}
