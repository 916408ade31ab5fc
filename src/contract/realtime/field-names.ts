/**
 * A field is written once, as v3 has it (camelCase); v2 has the same in snake_case (spec section 4.10).
 * The one name that does not follow the rule is here.
 */
const OTHER_NAMES_IN_V2: Readonly<Record<string, string>> = {
  modelId: 'model',
};
const FROM_V2: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(OTHER_NAMES_IN_V2).map(([camel, other]) => [other, camel]),
);

/** `voiceId` → `voice_id`: the name that v2 has for a field of v3. */
export function v2FieldName(name: string): string {
  if (Object.hasOwn(OTHER_NAMES_IN_V2, name)) return OTHER_NAMES_IN_V2[name] ?? name;
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `voice_id` → `voiceId`: the name that v3 has for a field of v2. */
export function v3FieldName(name: string): string {
  if (Object.hasOwn(FROM_V2, name)) return FROM_V2[name] ?? name;
  return name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}
