import { FAMILIES } from '../../contract/families.ts';
import type { FamilyId } from '../../contract/families.ts';
import type { VoiceDesignRequest } from '../../contract/schemas/voice-design.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { MADE_FAMILY } from '../personal-voices/clone-voice.ts';
import type { NaturalVoices } from '../personal-voices/natural-voices.ts';
import type { FieldProblem } from '../service-error.ts';
import { invalidRequest } from '../service-error.ts';
import type { DesignOrder } from '../voice-designs/make-design.ts';
import { CANDIDATES } from '../voice-designs/make-design.ts';
import { traitsOf } from '../voice-designs/prompt-words.ts';
import { anyOf } from '../wording/describe-allowed.ts';
import { showText } from '../wording/show-value.ts';

/** Credits for each character that a candidate says. */
const CREDITS_PER_CHARACTER = 1;
const DEFAULT_LANGUAGE = 'en';

/**
 * Decides what a design is to be and what it costs: a credit and a unit of quota for each character of
 * each preview.
 * @throws ServiceError 400 for a family or a language that there is not, and for nothing to say
 */
export function planDesign(
  { prompt, previewText, providers = [], language }: VoiceDesignRequest,
  accountId: string,
  voices: NaturalVoices,
): DesignOrder {
  const families = FAMILIES.map(({ id }) => id);
  const chosen = families.filter((id) => providers.includes(id));
  const [first, ...others] = [
    ...textProblems('prompt', prompt),
    ...textProblems('previewText', previewText),
    ...unknownFamilies(providers, families),
    ...languageProblems(language, voices),
  ];
  if (first !== undefined) throw invalidRequest([first, ...others]);
  const traits = traitsOf(prompt);
  const wanted = language ?? traits.language;
  const isSpoken = wanted !== undefined && voices.speak(wanted);
  const characters = CANDIDATES * countCodePoints(previewText);
  return {
    accountId,
    traits: { ...traits, language: isSpoken ? wanted : undefined },
    language: isSpoken ? wanted : DEFAULT_LANGUAGE,
    families: chosen.length === 0 ? [MADE_FAMILY] : chosen,
    previewText,
    characters,
    credits: characters * CREDITS_PER_CHARACTER,
  };
}

function textProblems(field: string, text: string): readonly FieldProblem[] {
  if (text.trim() === '') return [{ field, message: `${field} has nothing in it but white space` }];
  if (!/\p{Surrogate}/u.test(text)) return [];
  return [{ field, message: `${field} holds half of a surrogate pair, which is no character` }];
}

function unknownFamilies(
  providers: readonly string[],
  families: readonly FamilyId[],
): readonly FieldProblem[] {
  const known: readonly string[] = families;
  const unknown = providers.find((one) => !known.includes(one));
  if (unknown === undefined) return [];
  const message = `providers has ${showText(unknown)}; allowed is ${anyOf(families)}`;
  return [{ field: 'providers', message }];
}

function languageProblems(
  language: string | undefined,
  voices: NaturalVoices,
): readonly FieldProblem[] {
  if (language === undefined || voices.speak(language)) return [];
  const message = `language is ${showText(language)}; spoken here is ${anyOf(voices.languages)}`;
  return [{ field: 'language', message }];
}
