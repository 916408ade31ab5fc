import type { AudioFormat } from '../../contract/audio-formats.ts';
import type { SpeechControls } from '../../contract/schemas/speech.ts';

/** What an input says of one item; what it does not say comes from the flags. */
export interface ItemDraft {
  /** For messages: the file, with the line where there are many in it. */
  readonly source: string;
  /** `{name}`: the stem of the file, or what its line is called. */
  readonly name: string;
  /** `{dir}`: the folder of its file below the one that was named, with `/` between folders; empty for none. */
  readonly dir?: string | undefined;
  /** What it is called where its input gives no id; by default its name. */
  readonly title?: string | undefined;
  readonly id?: string | undefined;
  readonly text: string;
  readonly output?: string | undefined;
  readonly format?: AudioFormat | undefined;
  readonly voiceId?: string | undefined;
  readonly modelId?: string | undefined;
  readonly controls?: SpeechControls | undefined;
}
