import { Type } from 'typebox';
import type { Static } from 'typebox';
import { named } from './schemas.ts';

/** Version of the protocol between the service and engine processes (docs/engines.md). */
export const ENGINE_PROTOCOL = 1;

/** Pattern for engine names. Each name is a valid folder name and command-line argument. */
export const ENGINE_NAME = '^[a-z][a-z0-9-]{0,31}$';

/** A voice of an engine process, in the form that the engine reports and foley stores. */
export const EngineVoiceRecord = named('EngineVoiceRecord', {
  id: Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$',
    description: "The engine's own name of the voice",
  }),
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'Display name; default: the id' }),
  ),
  language: Type.String({
    pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,3}$',
    description: 'Language code (BCP 47)',
  }),
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
        'Scripts that the voice speaks (ISO 15924), such as Latn; the voice leaves out letters and digits of other scripts',
    }),
  ),
  words: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether the engine reports word times' }),
  ),
  textNormalization: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Whether the voice reads numbers, dates and abbreviations itself',
    }),
  ),
});
export type EngineVoiceRecord = Static<typeof EngineVoiceRecord>;

/** The description of an engine, which the engine sends in the first message. */
export const EngineDescription = named('EngineDescription', {
  version: Type.String({ maxLength: 64 }),
  license: Type.String({ maxLength: 64, description: 'SPDX expression' }),
  voices: Type.Array(EngineVoiceRecord, { minItems: 1, maxItems: 1_000 }),
});
export type EngineDescription = Static<typeof EngineDescription>;

export const EngineCommand = named('EngineCommand', {
  name: Type.String({ pattern: ENGINE_NAME }),
  command: Type.String({
    minLength: 1,
    maxLength: 4_096,
    description: 'Program to run, without a shell; `node` stands for the Node.js that runs foley',
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

/** Contents of `engines.json`. */
export const EngineList = named('EngineList', {
  version: Type.Literal(1),
  engines: Type.Array(EngineRegistration, { maxItems: 100 }),
});
export type EngineList = Static<typeof EngineList>;
