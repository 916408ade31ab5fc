import { Type } from 'typebox';
import type { Static } from 'typebox';
import { named } from './schemas.ts';

/**
 * The oldest and the newest supported version of the protocol between the service and engine processes
 * (docs/engines.md).
 */
export const ENGINE_PROTOCOLS = { oldest: 1, newest: 2 } as const;

/** Name of the built-in engine. */
export const BUILT_IN_ENGINE = 'hibari';

/** The controls that an engine of protocol version 2 can declare (docs/engines.md#controls). */
export const ENGINE_CONTROLS = [
  'language',
  'speed',
  'pitch',
  'volume',
  'emotion',
  'instruction',
  'stability',
  'similarity',
] as const;
export type EngineControl = (typeof ENGINE_CONTROLS)[number];

/** Maximum number of voices of an engine. */
export const ENGINE_VOICES_MAX = 1_000;

/** Maximum value of `maxConcurrent`, the number of requests that an engine can handle at the same time. */
export const ENGINE_REQUESTS_MAX = 16;

/** Range of `maxTextLength`, the number of code points in the longest text that an engine speaks in one request. */
export const ENGINE_TEXT_RANGE = { minimum: 50, maximum: 1_000_000 } as const;

/** Pattern for engine names. Each name is a valid folder name and command-line argument. */
export const ENGINE_NAME = '^[a-z][a-z0-9-]{0,31}$';

export const EngineControls = Type.Array(Type.Enum([...ENGINE_CONTROLS]), {
  maxItems: ENGINE_CONTROLS.length,
  description: 'Speech controls, such as speed, that the voice supports',
});

const LANGUAGE = '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,3}$';

/** A voice as its engine describes it. foley stores this record when the user adds the engine. */
export const EngineVoiceRecord = named('EngineVoiceRecord', {
  id: Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$',
    description: "The engine's own name of the voice",
  }),
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'Display name (default: the id)' }),
  ),
  language: Type.String({
    pattern: LANGUAGE,
    description: 'Language code (BCP 47)',
  }),
  languages: Type.Optional(
    Type.Array(Type.String({ pattern: LANGUAGE }), {
      minItems: 1,
      maxItems: 100,
      description: 'All languages of a multilingual voice (protocol version 2)',
    }),
  ),
  sampleRate: Type.Integer({
    minimum: 8_000,
    maximum: 48_000,
    description: 'Sample rate in hertz',
  }),
  pitch: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether the voice supports `pitch`' }),
  ),
  scripts: Type.Optional(
    Type.Array(Type.String({ pattern: '^[A-Z][a-z]{3}$' }), {
      minItems: 1,
      maxItems: 20,
      description:
        'ISO 15924 codes of the scripts that the voice speaks, such as Latn. The voice leaves out letters and digits of other scripts.',
    }),
  ),
  words: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether the engine reports word times' }),
  ),
  controls: Type.Optional(EngineControls),
  textNormalization: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Whether the voice reads numbers, dates and abbreviations itself',
    }),
  ),
  phonemes: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description:
        'Signs of the International Phonetic Alphabet that the voice speaks in `pronunciations`',
    }),
  ),
});
export type EngineVoiceRecord = Static<typeof EngineVoiceRecord>;

/** A model of an engine that uses protocol version 2. */
export const EngineModel = named('EngineModel', {
  id: Type.String({
    pattern: '^local-[a-z0-9][a-z0-9.-]{0,57}$',
    description: 'Model id for requests (begins with local-)',
  }),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Display name' })),
});
export type EngineModel = Static<typeof EngineModel>;

/** The description of an engine, which the engine sends in the message `hello`. */
export const EngineDescription = named('EngineDescription', {
  version: Type.String({ maxLength: 64 }),
  license: Type.String({ maxLength: 64, description: 'SPDX expression' }),
  voices: Type.Array(EngineVoiceRecord, {
    minItems: 1,
    maxItems: ENGINE_VOICES_MAX,
  }),
  protocol: Type.Optional(Type.Integer({ minimum: 2, description: 'Version of the protocol' })),
  models: Type.Optional(Type.Array(EngineModel, { minItems: 1, maxItems: 16 })),
  maxConcurrent: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: ENGINE_REQUESTS_MAX,
      description: 'Maximum number of requests that an engine process accepts at once',
    }),
  ),
  maxTextLength: Type.Optional(
    Type.Integer({
      minimum: ENGINE_TEXT_RANGE.minimum,
      maximum: ENGINE_TEXT_RANGE.maximum,
      description: 'Maximum length of the text of a request, in Unicode code points',
    }),
  ),
  cloning: Type.Optional(
    Type.Boolean({ description: 'Whether the engine can clone voices from reference audio' }),
  ),
});
export type EngineDescription = Static<typeof EngineDescription>;

export const EngineCommand = named('EngineCommand', {
  name: Type.String({ pattern: ENGINE_NAME }),
  command: Type.String({
    minLength: 1,
    maxLength: 4_096,
    description: 'Program to run, without a shell (`node` stands for the Node.js that runs foley)',
  }),
  args: Type.Array(Type.String({ maxLength: 4_096 }), { maxItems: 100 }),
  cwd: Type.String({ minLength: 1, maxLength: 4_096, description: 'Working folder' }),
});
export type EngineCommand = Static<typeof EngineCommand>;

/** An engine that the user added: the command line, and the description that the engine reported when it was added. */
export const EngineRegistration = named('EngineRegistration', {
  ...EngineCommand.properties,
  ...EngineDescription.properties,
});
export type EngineRegistration = Static<typeof EngineRegistration>;

/** The contents of `engines.json`, the list of the engines that the user added. */
export const EngineList = named('EngineList', {
  version: Type.Literal(1),
  engines: Type.Array(EngineRegistration, { maxItems: 100 }),
});
export type EngineList = Static<typeof EngineList>;
