import { controlsIn, refuseUnknownKeys } from '../batch/plan/json-line.ts';
import { typedCell } from '../batch/plan/table.ts';
import { isObject, jsonFaultOffset } from '../config/json-file.ts';
import { SPEECH_CONTROLS } from '../contract/generated/speech-controls.ts';
import type { SpeechControls } from '../contract/speech.ts';
import { usageFailure } from '../errors/failure.ts';
import { countCodePoints } from '../text/code-points.ts';
import { display } from '../text/display.ts';
import type { ScriptPosition, ScriptLine } from './script.ts';
import { describePlace, placeFailure } from './script.ts';

/** The voice, model and speech controls for the lines of one speaker. */
export interface CastMember {
  readonly name: string;
  /** Where the voice is set, for error messages: a flag, an environment variable, or a position in the cast file. */
  readonly where: string;
  /** Id or exact name of the voice. */
  readonly voice: string;
  readonly modelId?: string;
  readonly controls: SpeechControls;
}

/** Name of the cast member that speaks lines without a speaker. */
export const NARRATOR = 'NARRATOR';
const KEYS = ['voiceId', 'modelId', ...Object.keys(SPEECH_CONTROLS)];

/** Parses the value of a `--cast` flag, such as `ADA=Martin,speed=0.9`. @throws Failure of kind `usage` */
export function parseCastFlag(given: string): CastMember {
  const [, name = '', rest = ''] = /^([^=]*)=(.*)$/s.exec(given) ?? [];
  const [voice = '', ...settings] = rest.split(',').map((part) => part.trim());
  const where = `--cast ${display(name.trim())}`;
  const cells = settings.map((setting) => {
    const [key = '', value] = setting.split(/=(.*)/s).map((part) => part.trim());
    if (value === undefined || value === '') throw invalidCast(given);
    return [key, typedCell(key, value)] as const;
  });
  if (name.trim() === '' || voice === '') throw invalidCast(given);
  const fields = new Map<string, unknown>(cells);
  refuseUnknownKeys(fields.keys(), KEYS.slice(1), () => where);
  return memberOf(name.trim(), new Map([['voiceId', voice], ...fields]), where, () => where);
}

function invalidCast(given: string): Error {
  return usageFailure(
    `--cast is "${given}"; it takes NAME=VOICE, such as ADA=Martin or "DR. SMITH=Martin,speed=0.9"`,
  );
}

/**
 * Parses the JSON of a cast file, such as `{"ADA":{"voiceId":"Martin","speed":1.1}}`.
 * @throws Failure of kind `usage` with line and column
 */
export function readCastFile(text: string, file: string): readonly CastMember[] {
  const fault = jsonFaultOffset(text);
  if (fault !== undefined) throw placeFailure(placeAt(text, fault, file), 'this is not valid JSON');
  const cast: unknown = JSON.parse(text);
  if (!isObject(cast))
    throw placeFailure(placeAt(text, 0, file), 'this is not a JSON object', SHAPE);
  return Object.entries(cast).map(([name, member]) => {
    const start = text.indexOf(JSON.stringify(name));
    const whereOf = (key?: string): string => {
      const index = key === undefined ? start : text.indexOf(JSON.stringify(key), start);
      return describePlace(placeAt(text, Math.max(start, index), file));
    };
    const where = whereOf();
    if (!isObject(member)) throw usageFailure(`${where}: ${display(name)} is not an object`, SHAPE);
    refuseUnknownKeys(Object.keys(member), KEYS, whereOf);
    return memberOf(name, new Map(Object.entries(member)), where, whereOf);
  });
}

const SHAPE = 'Write {"ADA":{"voiceId":"…","speed":1.1}}.';

function placeAt(text: string, index: number, file: string): ScriptPosition {
  const before = text.slice(0, Math.max(0, index)).split('\n');
  return { file, line: before.length, column: countCodePoints(before.at(-1) ?? '') + 1 };
}

function memberOf(
  name: string,
  fields: ReadonlyMap<string, unknown>,
  where: string,
  whereOf: (key: string) => string,
): CastMember {
  const [voice, modelId] = ['voiceId', 'modelId'].map((key) => {
    const value = fields.get(key);
    if (value === undefined || (typeof value === 'string' && value.trim() !== '')) return value;
    throw usageFailure(`${whereOf(key)}: ${key} of ${display(name)} is not a string`, SHAPE);
  });
  if (voice === undefined) throw usageFailure(`${where}: ${display(name)} has no voiceId`, SHAPE);
  const model = modelId === undefined ? {} : { modelId };
  return { name, where, voice, ...model, controls: controlsIn(fields, whereOf) };
}

/** The voices of the speakers in a script. */
export class Cast {
  readonly #members = new Map<string, CastMember>();
  readonly #others: CastMember | undefined;

  /**
   * Creates a cast.
   * @param members the speakers and their voices; if a name occurs more than once, the last member is used
   * @param others the voice of all speakers that are not in `members`
   */
  constructor(members: readonly CastMember[], others: CastMember | undefined) {
    for (const member of members) this.#members.set(member.name.toUpperCase(), member);
    this.#others = others;
  }

  get names(): readonly string[] {
    return [...this.#members.values()].map(({ name }) => name);
  }

  /** Returns the cast member that speaks a line; undefined if the cast has no voice for the speaker. */
  memberFor({ speaker = NARRATOR }: ScriptLine): CastMember | undefined {
    return this.#members.get(speaker.toUpperCase()) ?? this.#others;
  }

  /**
   * Returns the display name of a speaker, spelled as in the cast. A speaker that is not in the cast is spelled as in
   * the script.
   */
  shownName({ speaker }: ScriptLine): string {
    const member = this.#members.get((speaker ?? NARRATOR).toUpperCase());
    return member?.name ?? speaker ?? 'Narrator';
  }

  /** Checks that every line has a voice. @throws Failure of kind `usage` that lists the speakers without a voice */
  check(lines: readonly ScriptLine[]): void {
    const missing = new Map<string, ScriptLine>();
    for (const line of lines) {
      const isMissing = line.voiceId === undefined && this.memberFor(line) === undefined;
      if (isMissing) missing.set(this.shownName(line), missing.get(this.shownName(line)) ?? line);
    }
    const [first] = missing.values();
    if (first === undefined) return;
    const names = [...missing.keys()].map((name) => display(name));
    throw placeFailure(
      first.place,
      `no voice is cast for ${names.join(', ')}`,
      `Cast each speaker, such as --cast "${names[0] ?? ''}=VOICE", or give -v VOICE for all others; \`foley voices list\` shows the voices.`,
    );
  }
}
