import path from 'node:path';
import { timeTokens } from '../../src/captions/time-tokens.ts';
import type { Timings } from '../../src/captions/timings.ts';
import { tokenize } from '../../src/captions/tokens.ts';
import type { Context } from '../../src/cli/command.ts';
import { readInput } from '../../src/cli/read-input.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { resolveSetting } from '../../src/config/settings.ts';
import { reasonOf } from '../../src/durable/file-failures.ts';
import { openOutput } from '../../src/durable/publish.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { SpokenDocument } from '../../src/read-along/make-book.ts';
import { makeReadAlong } from '../../src/read-along/make-book.ts';
import type { PlacedText } from '../../src/read-along/units.ts';
import { readScript } from '../../src/script/read/read-script.ts';
import type { BookParagraph, ScriptLine } from '../../src/script/script.ts';
import { counted, display } from '../../src/text/display.ts';
import { plainText } from '../../src/text/document.ts';
import { refuseCueFlags } from '../shared/flags/captions.ts';
import { describeReadAlong, openSpokenBook } from '../shared/read-along.ts';
import { alignText } from './align-text.ts';
import type { AlignFlags } from './flags.ts';
import { BOOK_USAGE } from './flags.ts';
import type { ReadAlongDocument } from '../shared/read-along.ts';

/** Makes a read-along book from an EPUB book and a recording of each of its spoken documents. */
export async function alignBook(
  context: Context,
  file: string,
  argument: string | undefined,
  flags: AlignFlags,
): Promise<CommandResult<ReadAlongDocument>> {
  const { folder, output: target } = checkFlags(argument, flags);
  const { onlyChapters, overlay = 'sentence', skipFrontMatter } = flags;
  const settings = await context.settings();
  const language = resolveSetting(settings, 'language', flags.language)?.value ?? 'en';
  const bytes = await readInput(context, file, file);
  const { io, signal } = context;
  const choice = { onlyChapters, skipFrontMatter };
  const reading = { cast: [], mayOverlap: false, signal } as const;
  const source = { file, bytes, format: 'epub', ...choice, ...reading } as const;
  const lines = await readScript(source, (sentence) => io.notice(`foley: ${sentence}`));
  const book = await openSpokenBook(file, bytes, lines);
  const documents = documentsOf(lines);
  const recordings = await recordingsIn(context, folder, [...documents.keys()]);
  const output = await openOutput(context.system, { signal: context.signal, path: target });
  let isTimed = true;
  async function* aligned(): AsyncGenerator<SpokenDocument> {
    for (const [index, [document, texts]] of [...documents].entries()) {
      const { audio, extension, mediaType } = recordings[index] ?? NO_RECORDING;
      const { durationMs, placed, timings } = await alignDocument(context, audio, {
        document,
        language,
        texts,
      });
      isTimed &&= timings.complete;
      yield { file: document, texts: placed, audio, extension, mediaType, durationMs };
    }
  }
  try {
    const made = await makeReadAlong(aligned(), {
      files: context.system.files,
      signal: context.signal,
      book,
      overlay,
      output,
    });
    const { fields, human, warnings } = describeReadAlong(made, overlay, isTimed);
    for (const warning of warnings) io.warn(`foley: ${warning}`);
    return { data: fields, human: () => human, ...(isTimed ? {} : { exit: 'partial' as const }) };
  } finally {
    await output.abandon();
  }
}

function checkFlags(
  argument: string | undefined,
  flags: AlignFlags,
): { readonly folder: string; readonly output: string } {
  const { audio, code, file, lexicon, output, subtitles, textFormat, timings } = flags;
  if (argument !== undefined) {
    const problem = `--epub takes the recordings from --audio, not from the argument "${argument}"`;
    throw usageFailure(problem, BOOK_USAGE);
  }
  const others = { file, 'text-format': textFormat, code, lexicon, subtitles, timings };
  const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (other !== undefined) {
    throw usageFailure(`--${other} does not work with --epub`, `Leave --${other} out.`);
  }
  refuseCueFlags(flags);
  if (audio === undefined) throw usageFailure('--epub requires --audio', BOOK_USAGE);
  if (output === undefined) throw usageFailure('--epub requires --output', BOOK_USAGE);
  if (path.extname(output).toLowerCase() === '.epub') return { folder: audio, output };
  throw usageFailure(`--output is "${output}"; it takes a file with the extension .epub`);
}

interface BookText {
  readonly text: string;
  readonly paragraph: BookParagraph;
}

function documentsOf(lines: readonly ScriptLine[]): ReadonlyMap<string, readonly BookText[]> {
  const documents = new Map<string, BookText[]>();
  for (const { paragraph, texts } of lines) {
    if (paragraph === undefined) continue;
    const own = documents.get(paragraph.file) ?? [];
    documents.set(paragraph.file, own);
    for (const text of texts) own.push({ text, paragraph });
  }
  return documents;
}

interface BookRecording {
  readonly audio: string;
  readonly extension: string;
  readonly mediaType: string;
}

const NO_RECORDING: BookRecording = { audio: '', extension: '', mediaType: '' };

// The audio formats that every reading system plays (EPUB 3.3, section 3.2).
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  m4b: 'audio/mp4',
  mp4: 'audio/mp4',
  opus: 'audio/ogg; codecs=opus',
};
const OTHER_AUDIO = /\.(?:aac|aiff?|flac|mka|ogg|wav|webm|wma)$/i;

// Returns the recordings in a folder in the order of their names, with numbers as numbers.
async function recordingsIn(
  { system: { files } }: Context,
  folder: string,
  documents: readonly string[],
): Promise<readonly BookRecording[]> {
  const names = await files.readdir(folder).catch((error: unknown) => {
    throw usageFailure(`--audio ${folder} cannot be read: ${reasonOf(error, folder)}`);
  });
  const other = names.find((name) => OTHER_AUDIO.test(name));
  if (other !== undefined) {
    throw usageFailure(
      `--audio ${folder}: ${display(other)} is in a format that EPUB does not allow; use mp3, m4a or opus`,
    );
  }
  const { compare } = new Intl.Collator('en', { numeric: true });
  const found = names.toSorted(compare).flatMap((name) => {
    const extension = path.extname(name).slice(1).toLowerCase();
    const mediaType = MEDIA_TYPES[extension];
    return mediaType === undefined
      ? []
      : [{ audio: path.join(folder, name), extension, mediaType }];
  });
  if (found.length === documents.length) return found;
  throw usageFailure(
    `--audio ${folder} has ${counted(found.length, 'recording')}, but the book has ${counted(documents.length, 'spoken document')}: ${documents.map((name) => display(name)).join(', ')}`,
    'Use one recording for each document, with names in the order of the book.',
  );
}

async function alignDocument(
  context: Context,
  audio: string,
  {
    document,
    language,
    texts,
  }: {
    readonly document: string;
    readonly language: string;
    readonly texts: readonly BookText[];
  },
): Promise<{
  readonly durationMs: number;
  readonly placed: readonly PlacedText[];
  readonly timings: Timings;
}> {
  const text = texts.map((one) => one.text).join('\n\n');
  const speech = { text, spoken: plainText(text) };
  const { placed, timings, words } = await alignText(context, { audio, language, speech });
  if (placed * 2 < words || placed === 0) {
    throw usageFailure(
      `${display(audio)} does not contain the text of ${display(document)}: ${placed} of ${words} words were found`,
      'Use one recording for each document, with names in the order of the book.',
    );
  }
  return { durationMs: timings.durationMs, placed: placeTexts(texts, timings), timings };
}

// Splits the times of a document at its texts.
function placeTexts(texts: readonly BookText[], timings: Timings): readonly PlacedText[] {
  const tokens = timeTokens(tokenize(timings.text), timings);
  let [end, next] = [0, 0];
  return texts.map(({ paragraph, text }) => {
    end += text.length;
    const first = next;
    while ((tokens[next]?.start ?? Infinity) < end) next += 1;
    end += 2;
    const own = { text, words: tokens.slice(first, next), unplaced: [] };
    return { text, paragraph, startMs: 0, timings: { ...timings, ...own } };
  });
}
