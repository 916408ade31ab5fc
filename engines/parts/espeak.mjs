// An instance of espeak-ng that always gives the same samples for the same text.

export const SAMPLE_RATE = 22_050;

/** Maximum length of the text for `speak`, in UTF-8 bytes. */
export const MAX_MARKUP_BYTES = 8192;

/** Limits and default of the rate of espeak-ng, in words a minute. */
const RATE = { lowest: 80, own: 175, highest: 450 };

/** Below full volume, so that high voices are not clipped before their level is adjusted. */
const VOLUME = 70;

const VARIANTS = '/usr/share/espeak-ng-data/voices/!v/';
const VARIANT = 'foley';

/**
 * Loads espeak-ng from the npm package beside this file or in a parent folder.
 * @returns {Promise<Espeak>}
 */
export async function loadEspeak() {
  const { default: load } = await findPackage();
  return new Espeak(await load());
}

async function findPackage() {
  try {
    return await import('@echogarden/espeak-ng-emscripten');
  } catch (error) {
    const isMissing =
      error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing) throw error;
    throw new Error('espeak-ng is not installed: add the engine again with `foley engine add`', {
      cause: error,
    });
  }
}

/**
 * @typedef {{ text: string, voice: string, variant: string, speed: number }} Utterance
 * `text` is escaped (see markup.mjs); `voice` is espeak-ng's name of a language; `variant` is the
 * text of a voice variant file.
 * @typedef {import('@echogarden/espeak-ng-emscripten').EspeakEvent} EspeakEvent
 * @typedef {import('@echogarden/espeak-ng-emscripten').EspeakModule} EspeakModule
 */
export class Espeak {
  #module;
  #worker;
  /** A copy of the memory of a new instance. */
  #fresh;

  /** @param {EspeakModule} module */
  constructor(module) {
    this.#module = module;
    this.#worker = new module.eSpeakNGWorker();
    this.#growBuffer();
    this.#fresh = module.HEAPU8.slice();
  }

  /**
   * Returns the lines of a voice variant that espeak-ng includes.
   * @param {string} name
   */
  variantLines(name) {
    return this.#module.FS.readFile(VARIANTS + name, { encoding: 'utf8' }).split('\n');
  }

  /**
   * Speaks a text. The same utterance always gives the same samples.
   * @param {Utterance} utterance
   * @returns {{ samples: Int16Array, events: EspeakEvent[] }} `text_position` counts code points
   *   from 1; `audio_position` is in milliseconds
   */
  speak({ text, voice, variant, speed }) {
    this.#forget();
    this.#module.FS.writeFile(VARIANTS + VARIANT, variant);
    if (this.#worker.set_voice(`${voice}+${VARIANT}`) !== 0) {
      throw new Error(`espeak-ng has no voice ${voice}`);
    }
    this.#worker.set_rate(within(RATE.lowest, Math.round(RATE.own * speed), RATE.highest));
    this.#worker.set_pitch(50);
    this.#worker.set_range(50);
    this.#worker.set_volume(VOLUME);
    return this.#synthesize(text);
  }

  /** @param {string} text */
  #synthesize(text) {
    /** @type {Int16Array[]} */
    const chunks = [];
    /** @type {EspeakEvent[]} */
    const events = [];
    this.#worker.synthesize(text, (samples, reported) => {
      chunks.push(samples);
      events.push(...reported);
      return false;
    });
    return { samples: joined(chunks), events };
  }

  /**
   * Grows the text buffer of the wrapper around espeak-ng to full size, on the call after a long text.
   * `#forget` restores the memory, and the wrapper keeps the address of that buffer.
   */
  #growBuffer() {
    this.#synthesize(`${' '.repeat(MAX_MARKUP_BYTES)}a`);
    this.#synthesize('a');
  }

  /** Restores the memory of a new instance, because earlier speech changes later speech. */
  #forget() {
    if (this.#module.HEAPU8.length !== this.#fresh.length) {
      throw new Error('the memory of espeak-ng has grown unexpectedly');
    }
    this.#module.HEAPU8.set(this.#fresh);
  }
}

/** @param {readonly Int16Array[]} chunks */
function joined(chunks) {
  const all = new Int16Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/**
 * @param {number} lowest
 * @param {number} value
 * @param {number} highest
 */
function within(lowest, value, highest) {
  return Math.min(highest, Math.max(lowest, value));
}
