import type { Catalogue } from '../catalogue/catalogue.ts';

/** Models of the other interface and what speaks in their place (spec section 4.4). */
const LABELS = new Map([
  ['s2.1-pro', 'vendor-s21pro'],
  ['s2.1-pro-free', 'vendor-s21pro-free'],
  ['s2.1-flash', 'vendor-s21-flash'],
  ['s2.1-pro-flash', 'vendor-s21pro-flash'],
  ['s2-pro', 'vendor-s2pro'],
  ['s1', 'vendor-s1'],
  ['s1-mini', 'vendor-s1'],
  ['speech-1.5', 'vendor-s1'],
  ['speech-1.6', 'vendor-s1'],
  ['1.6', 'vendor-s1'],
]);

/**
 * The model that the header `model` of `/v1/tts` means: a label of the other interface, or a model id
 * of this one. Anything else is ignored, and the default speaks.
 */
export function modelOfLabel(label: string | null, catalogue: Catalogue): string | undefined {
  const name = label?.trim() ?? '';
  return LABELS.get(name) ?? catalogue.model(name)?.id;
}
