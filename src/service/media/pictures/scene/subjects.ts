/** What can stand in a scene before its sky. */
export const SUBJECTS = ['mountains', 'water', 'trees', 'buildings', 'hills'] as const;
export type Subject = (typeof SUBJECTS)[number];

const BY_WORD: Readonly<Record<Subject, RegExp>> = {
  mountains: /\b(mountains?|alps?|peaks?|cliffs?|volcano|canyon)\b/i,
  water: /\b(sea|ocean|lake|river|water|waves?|beach|harbou?r|boats?|ships?|lighthouse)\b/i,
  trees: /\b(trees?|forest|woods?|pines?|jungle|garden|park)\b/i,
  buildings: /\b(city|cities|town|streets?|buildings?|skyline|houses?|castle|village|robots?)\b/i,
  hills: /\b(hills?|fields?|meadows?|dunes?|desert|valley|grass)\b/i,
};

/** The subjects that the prompt names, from back to front; one by lot when it names none. @param lot in [0, 1) */
export function subjectsFor(prompt: string, lot: number): readonly Subject[] {
  const named = SUBJECTS.filter((subject) => BY_WORD[subject].test(prompt));
  if (named.length > 0) return named;
  return [SUBJECTS[Math.floor(lot * SUBJECTS.length)] ?? 'hills'];
}
