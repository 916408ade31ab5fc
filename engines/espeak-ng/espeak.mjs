// espeak-ng itself: one instance in this process, made to speak the same thing the same way every time.

export const SAMPLE_RATE = 22_050;

/** The longest text, in UTF-8 bytes, that `speak` may be given. */
export const MAX_MARKUP_BYTES = 8192;

/** Slower or faster than this espeak-ng does not go, in words a minute. */
const RATE = { lowest: 80, own: 175, highest: 450 };

/** Below full volume, so that high voices are not clipped before they are levelled. */
const VOLUME = 70;

const VARIANTS = '/usr/share/espeak-ng-data/voices/!v/';
const VARIANT = 'foley';

/**
 * Loads espeak-ng, which is looked for beside this file and in the folders above it.
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
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error('espeak-ng is not installed; `foley engine add espeak-ng` installs it', {
      cause: error,
    });
  }
}

/**
 * @typedef {{ text: string, voice: string, variant: string, speed: number }} Utterance
 * `text` is escaped (see markup.mjs); `voice` is espeak-ng's name of a language; `variant` is the
 * text of a voice variant file.
 * @typedef {{ type: string, text_position: number, audio_position: number, id?: string }} EspeakEvent
 */
class Espeak {
  #module;
  #worker;
  /** The memory of an instance that has just been made. */
  #fresh;

  constructor(module) {
    this.#module = module;
    this.#worker = new module.eSpeakNGWorker();
    this.#makeRoom();
    this.#fresh = module.HEAPU8.slice();
  }

  /** What a variant that comes with espeak-ng says, line by line. */
  variantLines(name) {
    return this.#module.FS.readFile(VARIANTS + name, { encoding: 'utf8' }).split('\n');
  }

  /**
   * Speaks; the same words in the same voice give the same samples, whatever was said before.
   * @param {Utterance} utterance
   * @returns {{ samples: Int16Array, events: EspeakEvent[] }} positions are code points of the
   *   text from 1, and milliseconds
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

  #synthesize(text) {
    const chunks = [];
    const events = [];
    this.#worker.synthesize(text, (samples, told) => {
      chunks.push(samples);
      events.push(...told);
      return false;
    });
    return { samples: joined(chunks), events };
  }

  /**
   * What was said before changes what comes after, unless the memory is put back. The code around
   * espeak-ng keeps the address of a buffer for texts, so it is made to grow that to its full size
   * (on the call after the long one) before the memory is kept.
   */
  #makeRoom() {
    this.#synthesize(`${' '.repeat(MAX_MARKUP_BYTES)}a`);
    this.#synthesize('a');
  }

  #forget() {
    if (this.#module.HEAPU8.length !== this.#fresh.length) {
      throw new Error('the memory of espeak-ng has grown');
    }
    this.#module.HEAPU8.set(this.#fresh);
  }
}

function joined(chunks) {
  const all = new Int16Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

function within(lowest, value, highest) {
  return Math.min(highest, Math.max(lowest, value));
}
