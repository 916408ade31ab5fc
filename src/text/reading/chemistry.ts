import { cardinal, words } from './numbers.ts';

const ELEMENTS = new Set(
  words(`H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag
   Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np
   Pu Am Cm`),
);
const ISOTOPE = /^([⁰¹²³⁴-⁹]{1,3})(\p{Lu}\p{Ll}?)$/u;
const FORMULA = /^((?:\p{Lu}\p{Ll}?[\d₀-₉]{0,2}){1,12})([²³⁴]?)([⁺⁻]?)$/u;

/**
 * Returns the spoken form of a chemical formula, an ion or an isotope, letter by letter: `CaCO3` → `C A C O three`,
 * `Ca²⁺` → `C A two plus`, `¹⁴C` → `C fourteen`. Returns undefined for any other word.
 */
export function readChemical(word: string): string | undefined {
  const [, mass = '', isotope] = ISOTOPE.exec(word) ?? [];
  if (isotope !== undefined && ELEMENTS.has(isotope)) return spell(isotope + mass);
  const [, formula = '', charge = '', sign = ''] = FORMULA.exec(word) ?? [];
  const symbols = formula.match(/\p{Lu}\p{Ll}?/gu) ?? [];
  const isCompound = symbols.length > 1 && /[\d₀-₉]/.test(formula);
  if ((sign === '' && (charge !== '' || !isCompound)) || !symbols.every((one) => ELEMENTS.has(one)))
    return undefined;
  const spoken = spell(formula + charge);
  return sign === '' ? spoken : `${spoken} ${sign === '⁺' ? 'plus' : 'minus'}`;
}

function spell(formula: string): string {
  const parts =
    formula
      .normalize('NFKC')
      .toUpperCase()
      .match(/\d+|\D/g) ?? [];
  return parts.map((part) => (/\d/.test(part) ? cardinal(part, 'US') : part)).join(' ');
}
