import type { AudioFormat } from '../contract/audio-formats.ts';
import type { SpeechControls } from '../contract/schemas/speech.ts';
import type { SpeechField, SpeechSurface } from '../contract/speech-surfaces.ts';

/** What a person asks for, whichever surface it goes to. */
export interface SpeechOrder extends SpeechControls {
  readonly text: string;
  readonly voiceId: string;
  readonly modelId?: string;
  readonly format?: AudioFormat;
}

/** The order as the body of a surface: what the surface does not have is left out. */
export function speechBody(order: SpeechOrder, { fields }: SpeechSurface): object {
  const places: Readonly<Partial<Record<string, string>>> = fields;
  return Object.entries(order).reduce<Tree>((body, [field, value]) => {
    const place = places[field];
    return place === undefined ? body : planted(body, place.split('.'), value);
  }, {});
}

/** Whether a surface has a field at all. */
export function hasField({ fields }: SpeechSurface, field: SpeechField): boolean {
  return fields[field] !== undefined;
}

interface Tree {
  readonly [name: string]: unknown;
}

function planted(tree: Tree, [name = '', ...rest]: readonly string[], value: unknown): Tree {
  if (rest.length === 0) return { ...tree, [name]: value };
  const branch = tree[name];
  return { ...tree, [name]: planted(isTree(branch) ? branch : {}, rest, value) };
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null;
}
