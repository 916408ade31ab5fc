/** What one request cost: characters and credits. */
export type Charge = readonly [characters: number, credits: number];

/**
 * Estimates the credits of a request from what others cost, for a price per request and one per character,
 * rounded up: the highest that fits what was seen, so that the service charges no more. From one length
 * alone the price is taken as proportional. Undefined when nothing was seen.
 */
export function estimateCredits(
  charges: readonly Charge[],
  characters: number,
): number | undefined {
  if (charges.length === 0) return undefined;
  const { least, most } = slopesOf(charges);
  // The price changed meanwhile: the worst of it counts.
  if (least > most) return Math.ceil(characters * Math.max(...charges.map(([n, c]) => c / n)));
  const bounds = charges.map(([n, c]) => c + (characters - n) * (characters >= n ? most : least));
  return Math.max(0, Math.ceil(Math.min(...bounds) - ROUNDING));
}

/** Adds what a request cost; of lengths that are much the same the latest stays, and what contradicts it goes. */
export function withCharge(charges: readonly Charge[], charge: Charge): readonly Charge[] {
  const [characters] = charge;
  if (!(characters > 0)) return charges;
  const others = charges.filter((other) => {
    const { least, most } = slopesOf([other, charge]);
    return least <= most && sizeOf(other) !== sizeOf(charge);
  });
  return [...others, charge].toSorted(([a], [b]) => a - b);
}

/** Between which a price of a character lies. */
function slopesOf(charges: readonly Charge[]): { readonly least: number; readonly most: number } {
  // A request costs nothing less than nothing by itself.
  let most = Math.min(...charges.map(([n, c]) => c / n));
  let least = charges.length === 1 ? most : 0;
  for (const [n, c] of charges) {
    for (const [longer, more] of charges.filter(([other]) => other > n)) {
      most = Math.min(most, (more - c + 1) / (longer - n));
      least = Math.max(least, (more - c - 1) / (longer - n));
    }
  }
  return { least, most };
}

function sizeOf([characters]: Charge): number {
  return Math.floor(Math.log2(characters));
}

const ROUNDING = 1e-9;
