import type { EngineCommand, EngineControl, EngineVoiceRecord } from '../contract/engine.ts';
import { countCodePoints, sliceCodePoints } from '../text/code-points.ts';
import { counted } from '../text/display.ts';
import { EngineError } from '../service/engine/speech-engine.ts';
import { formatProblem } from '../service/engine/process/sample-format.ts';
import type { TestSpeech, TestOptions, RequestChanges } from './tested-engine.ts';
import { TestedEngine, loudnessOf, sampleText, usualSeconds, Verdict } from './tested-engine.ts';

/** The result of testing an engine against one rule of the engine protocol. */
export interface RuleReport {
  /** Name of the rule, which stays the same in all versions of foley. */
  readonly rule: string;
  readonly title: string;
  readonly status: 'passed' | 'warning' | 'failed' | 'skipped';
  /** What the test observed, as text for the author of the engine. */
  readonly found: string;
  /** What the author of the engine can do to pass the rule; null if the rule passed or was skipped. */
  readonly mend: string | null;
}

interface ProtocolRule {
  readonly name: string;
  readonly title: string;
  readonly mend: string;
  /** Runs the test and describes what it observed. @throws Verdict or EngineError unless the engine passes */
  readonly check: (engine: TestedEngine) => Promise<string>;
}

/** The rules of the engine protocol, in the order in which they are tested (docs/engines.md#test-your-engine). */
export const RULES: readonly ProtocolRule[] = [
  {
    name: 'hello',
    title: 'the engine starts and says hello in time',
    mend: 'Send hello within 60 s, or loading messages at least every 60 s. Flush stdout after each message, and write logs to stderr.',
    async check(engine) {
      await engine.process();
      const { protocol = 1, voices } = engine.description;
      return `version ${protocol}, ${counted(voices.length, 'voice')}, after ${seconds(engine.loadedMs)}`;
    },
  },
  {
    name: 'ids',
    title: 'ids of voices and models are unique',
    mend: 'Give each voice and each model its own id.',
    async check({ description: { models = [], voices } }) {
      for (const list of [voices, models]) {
        const ids = list.map(({ id }) => id);
        const twin = ids.find((id, index) => ids.indexOf(id) !== index);
        if (twin !== undefined) throw new Verdict('failed', `two have the id ${twin}`);
      }
      return 'no id is used twice';
    },
  },
  {
    name: 'speech',
    title: 'every voice speaks a sentence of its language',
    mend: 'End each speak request with done after its audio, or with error. Text that has letters of the language must not be unspeakable. If a long text takes 60 s without a message, declare a smaller maxTextLength.',
    async check(engine) {
      const spoken = [...(await engine.speakAll())];
      const failures = spoken.flatMap(([id, sound]) =>
        sound instanceof EngineError ? [`${id}: ${sound.message}`] : [],
      );
      const [first] = failures;
      if (first === undefined) {
        return `${counted(spoken.length, 'voice')} spoke${await speakLongest(engine)}`;
      }
      const more = failures.length === 1 ? '' : ` (and ${failures.length - 1} more)`;
      throw new Verdict('failed', `${first}${more}`);
    },
  },
  {
    name: 'format',
    title: 'speech has 16-bit samples of one channel',
    mend: 'Convert the samples to 16-bit signed integers (little-endian), one channel, without a file header. With NumPy: (samples * 32767).astype("<i2").',
    check: (engine) => eachSound(engine, 'failed', ({ samples }) => formatProblem(samples)),
  },
  {
    name: 'rate',
    title: 'speech has a natural length, so that the sample rate is right',
    mend: 'Declare the sampleRate of the samples: with another one, the voice is too high and fast, or too low and slow. Send one channel; bytes is the number of bytes, not of samples.',
    check: (engine) =>
      eachSound(engine, 'warning', (sound) => {
        const text = sampleText(sound.voice.language);
        const duration = soundingSeconds(sound);
        const count = countCodePoints(text);
        const usual = usualSeconds(sound.voice.language);
        const [least, most] =
          usual === undefined
            ? [count / MOST_CHARACTERS_A_SECOND, 2 + count / FEWEST_CHARACTERS_A_SECOND]
            : [usual / NATURAL_PACE, usual * NATURAL_PACE];
        const isNatural = duration >= least && duration <= most;
        if (isNatural || peakOf(sound) < SILENT_PEAK) return undefined;
        return `lasts ${duration.toFixed(1)} s for ${count} characters`;
      }),
  },
  {
    name: 'silence',
    title: 'speech is not silent',
    mend: 'Check that the samples are 16-bit signed integers, not floating-point numbers from -1 to 1.',
    check: (engine) =>
      eachSound(engine, 'failed', (sound) =>
        peakOf(sound) < SILENT_PEAK ? 'is silent' : undefined,
      ),
  },
  {
    name: 'clipping',
    title: 'speech is not clipped',
    mend: 'Lower the level before the conversion to 16 bits, and limit values to -32768 to 32767.',
    check: (engine) =>
      eachSound(engine, 'failed', (sound) => {
        const clipped = clippedIn(sound);
        return clipped === 0 ? undefined : `has ${clipped} runs of samples at full scale`;
      }),
  },
  {
    name: 'level',
    title: 'speech has a loudness of about -20 LUFS',
    mend: 'Change the level of the voice, so that all voices are equally loud.',
    check: (engine) =>
      eachSound(engine, 'warning', (sound) => {
        const loudness = loudnessOf(sound);
        if (loudness === undefined || Math.abs(loudness - LEVEL_LUFS) <= LEVEL_TOLERANCE) return;
        return `has ${loudness.toFixed(1)} LUFS`;
      }),
  },
  {
    name: 'words',
    title: 'voices with words send times in order, inside the audio, for every word',
    mend: 'Count start and end in Unicode code points of the text, and times from the start of the audio of the request.',
    check: (engine) =>
      eachSound(engine, 'failed', ({ voice, words }) => {
        if (voice.words !== true) return 'skip';
        const missing = wordsOf(sampleText(voice.language)).filter(
          ({ end, start }) => !words.some((word) => word.start < end && word.end > start),
        );
        return missing.length === 0 ? undefined : `has no time for ${missing[0]?.word}`;
      }),
  },
  {
    name: 'text',
    title: 'quotes, backslashes, line breaks and emoji do not end the text',
    mend: 'Decode the JSON string with a JSON parser, and pass the text to other programs without a shell.',
    async check(engine) {
      const [{ voice, samples }] = await firstOf(engine);
      const sample = sampleText(voice.language);
      const text = `"${sample}" \\ $(x) \`y\` 'z' %s &amp;\n\n\t${sample} 😀`;
      const spoken = await engine.speak(voice, text);
      const ratio = spoken.samples.length / samples.length;
      if (ratio >= LEAST_RATIO_OF_TWO_SENTENCES) return 'the whole text was spoken';
      const found = `two sentences last ${ratio.toFixed(1)} times as long as one`;
      throw new Verdict('failed', found);
    },
  },
  {
    name: 'unspeakable',
    title: 'text without letters is answered',
    mend: 'Send done without audio, or error with the reason unspeakable.',
    async check(engine) {
      const [{ voice }] = await firstOf(engine);
      try {
        const sound = await engine.speak(voice, '…');
        if (peakOf(sound) >= SILENT_PEAK) return 'the engine made a sound';
      } catch (error) {
        if (error instanceof EngineError && error.reason === 'unspeakable') {
          return 'the engine reported it as unspeakable';
        }
        throw error;
      }
      throw new Verdict('warning', 'the engine sent silence');
    },
  },
  {
    name: 'recovery',
    title: 'the process speaks again after text that it could not speak',
    mend: 'Catch the errors of a request: an error must not end the process.',
    async check(engine) {
      const [{ voice }] = await firstOf(engine);
      const before = await engine.process();
      await engine.speak(voice, '…').catch(() => undefined);
      await engine.speak(voice, sampleText(voice.language));
      if ((await engine.process()) === before) return 'the same process spoke';
      throw new Verdict('failed', 'the process ended');
    },
  },
  {
    name: 'cancel',
    title: 'a cancelled request ends within 2 s',
    mend: 'Read stdin while the engine speaks, and send audio in small messages. After cancel, send done or error.',
    async check(engine) {
      const [{ voice }] = await firstOf(engine);
      const sample = `${sampleText(voice.language)} `;
      const most = (engine.description.maxTextLength ?? Infinity) / countCodePoints(sample);
      const text = sample.repeat(Math.max(1, Math.min(LONG_TEXT_SENTENCES, most))).trim();
      const before = await engine.process();
      const speech = await engine.start(voice, text);
      await speech.chunks.next();
      await speech.settle();
      if (!before.isUsable) throw new Verdict('failed', 'the request continued for 2 s');
      await engine.speak(voice, sampleText(voice.language));
      return 'the process spoke again after it';
    },
  },
  {
    name: 'concurrency',
    title: 'as many requests as maxConcurrent are spoken at once',
    mend: 'Send the id of the request with each message, or declare a smaller maxConcurrent.',
    async check(engine) {
      const [{ samples, voice }] = await firstOf(engine);
      const { maxConcurrent = 1 } = engine.description;
      if (maxConcurrent === 1) throw new Verdict('skipped', 'maxConcurrent is 1');
      const text = sampleText(voice.language);
      const sounds = await Promise.all(
        Array.from({ length: maxConcurrent }, () => engine.speak(voice, text)),
      );
      const wrong = sounds.find((one) => Math.abs(one.samples.length / samples.length - 1) > 0.5);
      if (wrong === undefined) return `${maxConcurrent} requests were spoken`;
      throw new Verdict('failed', 'the same text has another length when several are spoken');
    },
  },
  {
    name: 'controls',
    title: 'declared controls change the sound',
    mend: 'Use the value of the control, or do not declare it.',
    check: checkControls,
  },
  {
    name: 'end',
    title: 'the process exits within 2 s after the end of stdin, and stdout has only messages',
    mend: 'Exit when stdin ends. Write logs to stderr.',
    async check(engine) {
      const { fault, hasExited } = await engine.endInput();
      if (fault !== undefined) throw new Verdict('failed', fault);
      if (!hasExited) throw new Verdict('failed', 'the process continued and was killed');
      return 'the process exited';
    },
  },
];

/**
 * Tests an engine against each rule of the engine protocol and yields the results (docs/engines.md#test-your-engine).
 * Continues after a rule that fails. If the engine crashes, the next rule starts a new process of the engine.
 */
export async function* testEngine(
  command: EngineCommand,
  options: TestOptions,
): AsyncGenerator<RuleReport> {
  const engine = new TestedEngine(command, options);
  try {
    for (const rule of RULES) {
      options.onProgress(rule.title);
      yield await judge(rule, engine);
      options.signal.throwIfAborted();
    }
  } finally {
    await engine.close();
  }
}

async function judge(
  { check, mend, name, title }: ProtocolRule,
  engine: TestedEngine,
): Promise<RuleReport> {
  const report = { rule: name, title };
  try {
    return { ...report, status: 'passed', found: await check(engine), mend: null };
  } catch (error) {
    if (error instanceof EngineError) {
      return { ...report, status: 'failed', found: error.message, mend };
    }
    if (!(error instanceof Verdict)) throw error;
    const { message: found, status } = error;
    return { ...report, status, found, mend: status === 'skipped' ? null : mend };
  }
}

// The longest and the shortest natural speech of a sentence, relative to the usual time.
const NATURAL_PACE = 1.3;
const LONGEST_TESTED = 2_000;
const MOST_CHARACTERS_A_SECOND = 50;
const FEWEST_CHARACTERS_A_SECOND = 2.5;
const SILENT_PEAK = 0.003;
const LEVEL_LUFS = -20;
const LEVEL_TOLERANCE = 3;
const LONG_TEXT_SENTENCES = 30;
const LEAST_RATIO_OF_TWO_SENTENCES = 1.5;
const CLIPPED_RUN = 4;
const FULL_SCALE = 32_767 / 32_768;

/** Speaks a text of the declared maximum length. @returns how long it was, as the end of a sentence */
async function speakLongest(engine: TestedEngine): Promise<string> {
  const { maxTextLength } = engine.description;
  if (maxTextLength === undefined) return '';
  const [{ voice }] = await firstOf(engine);
  const sample = `${sampleText(voice.language)} `;
  const length = Math.min(maxTextLength, LONGEST_TESTED);
  const text = sample.repeat(Math.ceil(length / countCodePoints(sample)));
  await engine.speak(voice, sliceCodePoints(text, 0, length));
  return `, and one spoke ${length} characters at once`;
}

type TestedVoice = TestSpeech & { readonly voice: EngineVoiceRecord };

async function eachSound(
  engine: TestedEngine,
  status: 'failed' | 'warning',
  problemOf: (sound: TestedVoice) => string | undefined,
): Promise<string> {
  const sounds = await engine.sounds();
  const found = sounds.map((sound) => ({ id: sound.voice.id, problem: problemOf(sound) }));
  const checked = found.filter(({ problem }) => problem !== 'skip');
  if (checked.length === 0) throw new Verdict('skipped', 'no voice declares it');
  const wrong = checked.filter(({ problem }) => problem !== undefined);
  const [first] = wrong;
  if (first === undefined) return `${counted(checked.length, 'voice')} checked`;
  const more = wrong.length === 1 ? '' : ` (and ${wrong.length - 1} more)`;
  throw new Verdict(status, `voice ${first.id} ${first.problem}${more}`);
}

async function firstOf(engine: TestedEngine): Promise<readonly [TestedVoice]> {
  const [first] = await engine.sounds();
  if (first === undefined) throw new Verdict('skipped', 'no voice speaks');
  return [first];
}

function peakOf({ samples }: TestSpeech): number {
  return samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
}

/** Returns the duration of the speech without the silence at its beginning and end, in seconds. */
function soundingSeconds(sound: TestSpeech): number {
  const limit = peakOf(sound) * QUIET_SHARE;
  const isLoud = (sample: number): boolean => Math.abs(sample) > limit;
  const { sampleRate, samples } = sound;
  return (samples.findLastIndex(isLoud) - samples.findIndex(isLoud)) / sampleRate;
}

const QUIET_SHARE = 0.02;

function clippedIn({ samples }: TestSpeech): number {
  let runs = 0;
  let length = 0;
  for (const sample of samples) {
    length = Math.abs(sample) >= FULL_SCALE ? length + 1 : 0;
    if (length === CLIPPED_RUN) runs += 1;
  }
  return runs;
}

function wordsOf(text: string) {
  // Chinese and Japanese have no spaces between words.
  if (/[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u.test(text)) return [];
  return [...text.matchAll(/[\p{L}\p{M}\p{N}’-]*[\p{L}\p{N}][\p{L}\p{M}\p{N}’-]*/gu)].map(
    ({ 0: word, index }) => {
      const start = countCodePoints(text.slice(0, index));
      return { word, start, end: start + countCodePoints(word) };
    },
  );
}

// Each control is tested with values that change the speech noticeably.
const CONTROL_TESTS: Readonly<
  Record<
    EngineControl,
    {
      readonly changes: readonly RequestChanges[];
      readonly differs: (plain: TestSpeech, other: TestSpeech) => boolean;
    }
  >
> = {
  speed: {
    changes: [{ speed: 1.5 }],
    differs: (plain, other) => other.samples.length < 0.9 * plain.samples.length,
  },
  pitch: { changes: [{ pitch: 4 }], differs: areDifferent },
  volume: {
    changes: [{ controls: { volume: -6 } }],
    differs: (plain, other) => (loudnessOf(other) ?? -70) < (loudnessOf(plain) ?? 0) - 3,
  },
  language: { changes: [], differs: areDifferent },
  emotion: {
    changes: ['happy', 'sad', 'angry'].map((emotion) => ({ controls: { emotion } })),
    differs: areDifferent,
  },
  instruction: {
    changes: [{ controls: { instruction: 'Speak slowly and sadly.' } }],
    differs: areDifferent,
  },
  stability: { changes: [{ controls: { stability: 0.1 } }], differs: areDifferent },
  similarity: { changes: [{ controls: { similarity: 0.1 } }], differs: areDifferent },
};

function declaredBy({ controls, pitch }: EngineVoiceRecord): readonly EngineControl[] {
  return controls ?? (pitch === true ? ['speed', 'pitch'] : ['speed']);
}

async function checkControls(engine: TestedEngine): Promise<string> {
  const sounds = await engine.sounds();
  const { protocol = 1 } = engine.description;
  const declared = [...new Set(sounds.flatMap(({ voice }) => declaredBy(voice)))];
  if (declared.length === 0) throw new Verdict('skipped', 'no control is declared');
  const useless: EngineControl[] = [];
  for (const control of declared) {
    const plain = sounds.find(({ voice }) => declaredBy(voice).includes(control));
    if (plain !== undefined && !(await hasEffect(engine, control, plain))) useless.push(control);
  }
  if (useless.length === 0) return declared.join(', ');
  // A voice of version 1 uses the nearest value that it supports, and names of emotions are free.
  const isSure = protocol > 1 && useless.some((name) => SURE_CONTROLS.has(name));
  throw new Verdict(isSure ? 'failed' : 'warning', `no effect: ${useless.join(', ')}`);
}

const SURE_CONTROLS: ReadonlySet<EngineControl> = new Set(['speed', 'pitch', 'volume']);

async function hasEffect(
  engine: TestedEngine,
  control: EngineControl,
  { voice, ...plain }: TestedVoice,
): Promise<boolean> {
  const { differs, changes } = CONTROL_TESTS[control];
  const text = sampleText(voice.language);
  for (const change of changes) {
    if (differs(plain, await engine.speak(voice, text, change))) return true;
  }
  return changes.length === 0;
}

function areDifferent({ samples }: TestSpeech, other: TestSpeech): boolean {
  return (
    samples.length !== other.samples.length ||
    samples.some((sample, index) => sample !== other.samples[index])
  );
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
