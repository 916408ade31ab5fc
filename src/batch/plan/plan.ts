import type { SpeechOrder } from '../../api/speech-order.ts';
import { extensionOf, formatOfPath } from '../../audio/formats.ts';
import type { AudioFormat } from '../../contract/audio-formats.ts';
import { SPEECH_FORMATS } from '../../contract/generated/speech-controls.ts';
import type { SpeechControls } from '../../contract/schemas/speech.ts';
import type { FileSystem } from '../../effects/file-system.ts';
import { usageFailure } from '../../errors/failure.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { draftsOf } from './drafts.ts';
import type { Source } from './inputs.ts';
import type { ItemDraft } from './item.ts';
import type { NameTemplate } from './name-template.ts';
import { TakenIds, TakenOutputs } from './taken.ts';
import { checkOutputName } from './output-name.ts';

/** One thing to be spoken, completely decided. */
export interface BatchItem {
  /** From 1, over all shards. */
  readonly index: number;
  /** By this the journal and the person know it again. */
  readonly id: string;
  /** For messages. */
  readonly source: string;
  /** Below the output folder, with `/` between folders. */
  readonly output: string;
  readonly order: SpeechOrder & { readonly format: AudioFormat };
  readonly characters: number;
  /** Its input names no voice. */
  readonly usesDefaultVoice: boolean;
}

/** What counts for items that do not say otherwise. */
export interface PlanDefaults {
  readonly voiceId: string;
  readonly modelId: string | undefined;
  /** `--format`, which an output's ending may not contradict. */
  readonly format: AudioFormat | undefined;
  /** Where nothing else decides. */
  readonly configuredFormat: AudioFormat | undefined;
  readonly controls: SpeechControls;
}

export interface PlanOptions {
  readonly sources: readonly Source[];
  readonly defaults: PlanDefaults;
  readonly template: NameTemplate;
  /** Items of the whole plan, as {@link countItems} counts them. */
  readonly total: number;
  readonly files: FileSystem;
  /** Of tables. */
  readonly textColumn?: string | undefined;
  /** The further files of an item, by its output. */
  readonly besides: (output: string) => readonly string[];
}

/**
 * The items of a batch in their order, each checked, and against all before it; holds one text at a time
 * and 32 bytes of each name.
 * @throws Failure (usage) naming where the fault is
 */
export async function* planItems(options: PlanOptions): AsyncGenerator<BatchItem, void, undefined> {
  const { files, sources, textColumn, total } = options;
  const width = String(total).length;
  const padded = (index: number): string => String(index).padStart(width, '0');
  const ids = new TakenIds();
  const outputs = new TakenOutputs();
  let index = 0;
  for await (const draft of draftsOf(
    sources,
    (list, number) => `${list}-${padded(number)}`,
    files,
    textColumn,
  )) {
    index += 1;
    const { id: given, name, title = name } = draft;
    const id = given === undefined ? ids.free(title, index) : ids.take(given, index, draft);
    const item = decide(draft, { index, id, padded: padded(index) }, options);
    outputs.take(item.output, index, draft);
    for (const beside of options.besides(item.output)) outputs.take(beside, index, draft);
    yield item;
  }
}

interface Place {
  readonly index: number;
  readonly id: string;
  readonly padded: string;
}

function decide(
  draft: ItemDraft,
  { index, id, padded }: Place,
  { defaults, template }: PlanOptions,
): BatchItem {
  const { source, text } = draft;
  const voiceId = draft.voiceId ?? defaults.voiceId;
  const modelId = draft.modelId ?? defaults.modelId;
  const chosen = draft.format ?? defaults.format;
  const usual = chosen ?? defaults.configuredFormat ?? 'mp3';
  const { dir = '', name } = draft;
  const parts = { index: padded, name, dir, id, voice: voiceId, ext: extensionOf(usual) };
  const output = checkOutputName(draft.output ?? template.render(parts), source);
  const format = formatOf(output, { chosen, usual, source });
  return {
    index,
    id,
    source,
    output,
    order: {
      text,
      voiceId,
      ...(modelId === undefined ? {} : { modelId }),
      format,
      ...defaults.controls,
      ...draft.controls,
    },
    characters: countCodePoints(text),
    usesDefaultVoice: draft.voiceId === undefined,
  };
}

interface FormatWishes {
  readonly chosen: AudioFormat | undefined;
  readonly usual: AudioFormat;
  readonly source: string;
}

function formatOf(output: string, { chosen, source, usual }: FormatWishes): AudioFormat {
  const named = formatOfPath(output);
  if (named === undefined) return usual;
  const format = SPEECH_FORMATS.find((candidate) => candidate === named);
  if (format === undefined) {
    throw usageFailure(
      `${source}: its output ends in a name for ${named}; speech comes as ${SPEECH_FORMATS.join(', ')}`,
      'Choose one of those endings, and convert the file afterwards.',
    );
  }
  if (chosen === undefined || chosen === format) return format;
  throw usageFailure(
    `${source}: the format is ${chosen}, but the name of its output says ${format}`,
    'Change one of them.',
  );
}
