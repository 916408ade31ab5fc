// Entry point of dist/english-reader.cjs, which the adapter of Kokoro loads (engines/kokoro/american.mjs). `foley engine
// add` copies it together with the files that it reads, at the same relative paths.

import { fileURLToPath } from 'node:url';
import type { English } from './english.ts';
import { openEnglish } from './english.ts';
import { IPA_SIGNS } from './ipa.ts';
import { unknownWordReader } from './unknown-word-network.ts';

/** The signs of IPA that the reader accepts as given phonemes. */
export const signs = IPA_SIGNS;

/** Opens the reader of American English with its files in the package or in the installation of an engine. */
export function openReader(): English {
  const kernels = fileURLToPath(new URL('packages/kernels.wasm', import.meta.url));
  const folder = fileURLToPath(new URL('../assets/voice', import.meta.url));
  return openEnglish(folder, unknownWordReader(kernels, `${folder}/unknown-words.safetensors`));
}
