import { inflect, table, words } from './numbers.ts';

// If the plural does not end in `s`, it follows the singular after a `/`.
const UNITS = table(
  `km=kilometer|m=meter|cm=centimeter|mm=millimeter|µm=micrometer|nm=nanometer|mi=mile|yd=yard|yds=yard|ft=foot/feet
  in=inch/inches|kg=kilogram|g=gram|mg=milligram|µg=microgram|mcg=microgram|lb=pound|lbs=pound|oz=ounce|t=ton
  l=liter|L=liter|ml=milliliter|mL=milliliter|cl=centiliter|dl=deciliter|gal=gallon|qt=quart|tsp=teaspoon
  tbsp=tablespoon|KB=kilobyte|kB=kilobyte|MB=megabyte|GB=gigabyte|TB=terabyte|PB=petabyte|KiB=kibibyte|MiB=mebibyte
  GiB=gibibyte|TiB=tebibyte|kb=kilobit|Mb=megabit|Gb=gigabit|Hz=hertz/hertz|kHz=kilohertz/kilohertz
  MHz=megahertz/megahertz|GHz=gigahertz/gigahertz|W=watt|kW=kilowatt|MW=megawatt|GW=gigawatt|TW=terawatt|V=volt
  kV=kilovolt|mV=millivolt|A=amp|mA=milliamp|J=joule|kJ=kilojoule|N=newton|Pa=pascal|kPa=kilopascal|hPa=hectopascal
  MPa=megapascal|cal=calorie|kcal=kilocalorie|Ω=ohm|kΩ=kilohm|s=second|sec=second|secs=second|ms=millisecond
  µs=microsecond|us=microsecond|ns=nanosecond|min=minute|mins=minute|h=hour|hr=hour|hrs=hour|yr=year|yrs=year
  px=pixel|Å=angstrom|ha=hectare|dB=decibel|K=kelvin|Gt=gigaton|Mt=megaton|pt=point|pts=point|doz=dozen/dozen|mol=mole
  %=percent/percent|‰=per mille/per mille|°=degree|°C=degree Celsius/degrees Celsius
  ℃=degree Celsius/degrees Celsius|°F=degree Fahrenheit/degrees Fahrenheit|℉=degree Fahrenheit/degrees Fahrenheit
  mph=mile per hour/miles per hour|kph=kilometer per hour/kilometers per hour
  kmh=kilometer per hour/kilometers per hour|mpg=mile per gallon/miles per gallon
  fps=frame per second/frames per second|rpm=R P M/R P M|psi=P S I/P S I|bpm=beat per minute/beats per minute
  dpi=D P I/D P I|ppm=parts per million/parts per million|bps=basis point/basis points
  kbps=kilobit per second/kilobits per second|Mbps=megabit per second/megabits per second
  Gbps=gigabit per second/gigabits per second|kWh=kilowatt hour|MWh=megawatt hour|GWh=gigawatt hour
  TWh=terawatt hour|mAh=milliamp hour|Wh=watt hour|mmHg=millimeter of mercury/millimeters of mercury
  pp=percentage point|ppg=point per game/points per game|rpg=rebound per game/rebounds per game|apg=assist per game/assists per game
  eV=electron volt|keV=kilo electron volt|MeV=mega electron volt|GeV=giga electron volt|TeV=tera electron volt|N·m=newton meter|Nm=newton meter|kN=kilonewton
  GPa=gigapascal|mbar=millibar|atm=atmosphere|MJ=megajoule|THz=terahertz|mmol=millimole|µmol=micromole|ppb=parts per billion/parts per billion
  µA=microamp|µV=microvolt|pF=picofarad|nF=nanofarad|µF=microfarad|mSv=millisievert|µSv=microsievert|kDa=kilodalton|T=tesla/tesla|kr=krone/kroner|zł=zloty/zloty|Kč=koruna|ly=light year|pc=parsec|dBm=D B M/D B M|lm=lumen|lx=lux/lux|ff=and following/and following`,
);

/** Matches units of length that can follow a size such as `12 × 8`. */
export const LENGTH_UNIT = /^(?:[cmk]?m|ft|feet|inches|px)$/;
const SQUARE_OR_CUBE = /^([a-zµ]{1,3})([²³])$/;
const PER = /^([^/]{1,8})\/([^/]{1,8})$/;
// Nouns that can follow `per` although they are not units.
const PER_WORDS = new Set(
  words('day month year week hour minute second night person user unit mile gallon'),
);

/** Returns the spoken name of a unit, such as `km/h` or `m²`; undefined for any other text. */
export function unitName(unit: string, isOne: boolean): string | undefined {
  const sign = unit.replaceAll('μ', 'µ');
  const names = UNITS.get(sign);
  if (names !== undefined) return inflect(names, isOne);
  const [, base = '', power] = SQUARE_OR_CUBE.exec(sign) ?? [];
  const based = UNITS.get(base);
  if (power !== undefined && based !== undefined) {
    const name = inflect(based, isOne);
    if (/^(?:s|h|min)$/.test(base)) return `${name} ${power === '²' ? 'squared' : 'cubed'}`;
    return `${power === '²' ? 'square' : 'cubic'} ${name}`;
  }
  const [, over = '', under = ''] = PER.exec(sign) ?? [];
  if (under === '') return undefined;
  const top = PER_WORDS.has(over.replace(/s$/, '')) ? over : unitName(over, isOne);
  const bottom = PER_WORDS.has(under) ? under : unitName(under, true);
  return top === undefined || bottom === undefined ? undefined : `${top} per ${bottom}`;
}

// These are also words or letters. foley reads them as units only if no other reading fits.
const DOUBTFUL = /^(?:in|us|[AaIKTstWVNJ]|pts?|pp|am|Mt)$/;

/**
 * Returns true if a word that follows a number and a space is certainly a unit. Returns false for words with another
 * meaning, such as `in`.
 */
export function isUnit(word: string): boolean {
  return !DOUBTFUL.test(word) && unitName(word, true) !== undefined;
}

/** Returns true if a word after a slash is read with `per`, as in `$5/month`. */
export function isPerUnit(word: string): boolean {
  return PER_WORDS.has(word) || unitName(word, true) !== undefined;
}
