import type { ControlName, SpeechControls } from '../../contract/schemas/speech.ts';
import type { SpeakingVoice } from '../catalogue/catalogue.ts';
import type { CatalogueModel } from '../catalogue/models.ts';
import type { Direction } from './direction.ts';
import { combine, directEmotion, directInstruction, PLAIN } from './direction.ts';

/** How a text is to be said, and which of the controls did nothing about it. */
export interface Delivery {
  readonly speed: number;
  readonly pitch: number;
  readonly gainDb: number;
  /** Controls that were given and not applied, for `X-OpenAPI-Ignored-Parameters` (spec 4.1). */
  readonly ignored: readonly ControlName[];
}

/** Applies the controls that the model and the voice can follow; the others are ignored and listed. */
export function deliver(
  controls: { readonly [Name in ControlName]?: SpeechControls[Name] | undefined },
  model: CatalogueModel,
  voice: SpeakingVoice,
): Delivery {
  const emotion = model.emotion ? follow(controls.emotion, directEmotion) : undefined;
  const instruction = model.instruction
    ? follow(controls.instruction, directInstruction)
    : undefined;
  const direction = combine(emotion ?? PLAIN, instruction ?? PLAIN);
  const applied: Readonly<Record<ControlName, boolean>> = {
    ...model.controls,
    language: speaks(voice, controls.language),
    emotion: emotion !== undefined,
    instruction: instruction !== undefined,
    // The engine always speaks numbers and abbreviations as words; it cannot be told not to.
    textNormalization: controls.textNormalization !== false,
    filterEmoji: true,
  };
  return {
    speed: (applied.speed ? (controls.speed ?? 1) : 1) * direction.speed * voice.engine.speed,
    pitch: (applied.pitch ? (controls.pitch ?? 0) : 0) + direction.pitch + voice.engine.pitch,
    gainDb: (applied.volume ? (controls.volume ?? 0) : 0) + direction.gainDb,
    ignored: CONTROL_NAMES.filter((name) => isGiven(controls[name]) && !applied[name]),
  };
}

const CONTROL_NAMES: readonly ControlName[] = [
  'speed',
  'volume',
  'pitch',
  'stability',
  'similarity',
  'language',
  'emotion',
  'instruction',
  'textNormalization',
];

function follow(
  wish: string | undefined,
  find: (wish: string) => Direction | undefined,
): Direction | undefined {
  return wish === undefined ? undefined : find(wish);
}

function isGiven(value: string | number | boolean | undefined): boolean {
  return value !== undefined && value !== '';
}

/** A hint is followed when it names a language of the voice, whatever the region. */
function speaks(voice: SpeakingVoice, hint: string | undefined): boolean {
  if (hint === undefined) return true;
  return voice.languages.some((language) => primarySubtag(language) === primarySubtag(hint));
}

function primarySubtag(language: string): string {
  return (language.split(/[-_]/)[0] ?? '').toLowerCase();
}
