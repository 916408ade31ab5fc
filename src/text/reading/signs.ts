import { currencyAfter } from './currencies.ts';
import { table } from './numbers.ts';

// Signs that are words of their own, also directly beside letters, as in `x∈A`.
const WORD_SIGNS = table(
  `∈=is in|∉=is not in|∋=contains|∀=for all|∃=there exists|∄=there is no|⊂=is a subset of|⊆=is a subset of|⊄=is not a subset of
  ⊃=is a superset of|⊇=is a superset of|⊊=is a proper subset of|∪=union|∩=intersection|∖=minus|∅=the empty set|∧=and|∨=or|¬=not
  ⊕=circled plus|⊗=circled times|∑=the sum of|∏=the product of|∫=the integral of|∬=the double integral of|∮=the contour integral of
  ∂=partial|∇=del|∆=delta|∝=is proportional to|≡=is identical to|≢=is not identical to|≅=is congruent to|≃=is similar to
  ∼=is similar to|≪=is much less than|≫=is much greater than|≮=is not less than|≯=is not greater than|⊥=is perpendicular to
  ∥=is parallel to|∣=divides|∠=angle|∴=therefore|∵=because|⇔=if and only if|⟺=if and only if|⟹=implies|↦=maps to|⊢=proves
  ⊨=models|∘=composed with|∗=times|⋅=times|∓=minus or plus|∛=cube root of|∜=fourth root of|≔=is defined as|≜=is defined as
  №=number|¶=paragraph`,
);

// Signs that can be a part of a word, as in `C♯m` and `√2`.
const OTHER_SIGNS = table(
  '♯=sharp|♭=flat|♮=natural|∞=infinity|√=square root of|−=minus|∕=slash|-∞=minus infinity|−∞=minus infinity|+∞=plus infinity',
);

/** The signs that are words of their own, for a character class of a regular expression. */
export const WORD_SIGN_CLASS = [...WORD_SIGNS.keys()].join('');

/** Returns the spoken name of a sign, such as `is in` for `∈` and `sharp` for `♯`. Returns undefined for other signs. */
export function signName(sign: string): string | undefined {
  return WORD_SIGNS.get(sign) ?? OTHER_SIGNS.get(sign) ?? currencyAfter(sign, '1');
}

// Operators and currencies. Arrows, bullets, dots and lines are decoration, and the last ones here are read elsewhere.
const COUNTED =
  /[\u2200-\u22FF\u27C0-\u27E5\u2A00-\u2AFF\u20A0-\u20CF϶⁒֏؋৲৳૱௹฿៛](?<![∎∕∙√∞∶≈≠≤≥⋄⋆⋮-⋱−])/u;

/** Returns true for a sign of mathematics or a currency that `readEnglish` cannot read, so that its reader would miss it. */
export function isUnreadSign(character: string): boolean {
  return COUNTED.test(character) && signName(character) === undefined;
}
