import type { Failure } from '../errors/failure.ts';
import { usageFailure } from '../errors/failure.ts';
import type { SpokenText } from '../text/document.ts';
import type { CodeMode, TextFormat } from '../text/formats/text-formats.ts';
import { documentFormat, hasCode } from '../text/formats/text-formats.ts';
import type { TextSource } from './text-source.ts';
import { readText } from './text-source.ts';

/** A text to speak. */
export interface SpeechText {
  /** What is sent. */
  readonly text: string;
  /** The words of the document, and pauses; undefined for plain text, which is sent as it is. */
  readonly spoken: SpokenText | undefined;
}

/** The flags that say how a text is read. */
export interface DocumentFlags {
  readonly textFormat?: TextFormat | undefined;
  readonly code?: CodeMode | undefined;
}

/**
 * Reads the text to speak: plain text as it is, or the text of a document.
 * @throws Failure (usage)
 */
export async function readSpeech(
  source: TextSource,
  { code, textFormat }: DocumentFlags,
): Promise<SpeechText> {
  const format = documentFormat(textFormat, source.args.length > 0 ? undefined : source.file);
  if (code !== undefined && !hasCode(format)) throw codeFailure();
  if (format === undefined) return { text: await readText(source), spoken: undefined };
  const { readDocumentSource } = await import('./document-source.ts');
  const spoken = await readDocumentSource(source, format, code);
  return { text: spoken.text, spoken };
}

/** Creates the failure for `--code` without a document that has code blocks. */
export function codeFailure(): Failure {
  return usageFailure(
    '--code works with Markdown, HTML and EPUB only',
    'Leave it out, or name the format with --text-format.',
  );
}

/**
 * Refuses pauses, for a command that cannot speak them.
 * @throws Failure (usage)
 */
export function refusePauses(spoken: SpokenText | undefined, command: string): void {
  if (spoken === undefined || spoken.pauses.length === 0) return;
  throw usageFailure(
    `the text has pauses, which ${command} cannot speak`,
    'Remove the <break> elements, or use `foley tts`.',
  );
}
