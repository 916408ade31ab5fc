import { isAbbreviation } from '../sentences.ts';
import { monthNamed, SHORT_DATES } from './dates.ts';
import { cardinal, inflect, ordinal, romanValue, table, words, year } from './numbers.ts';
import type { Place } from './tokens.ts';
import { isName, nextWord, previousWord } from './tokens.ts';
import { isUnit, unitName } from './units.ts';

/** The spoken form of a word. `takesStop` is true if a full stop after the word belongs to it, as in `Dr.` */
export interface ReadWord {
  readonly spoken: string;
  readonly takesStop?: boolean;
}

// Abbreviations that stand before a name, with their spoken forms.
const TITLES =
  table(`dr=Doctor|mr=Mister|mrs=Missus|ms=Ms|prof=Professor|gen=General|col=Colonel|sgt=Sergeant|capt=Captain
  lt=Lieutenant|gov=Governor|sen=Senator|rep=Representative|rev=Reverend|hon=Honorable|pres=President|maj=Major|cpl=Corporal
  cmdr=Commander|adm=Admiral|supt=Superintendent|insp=Inspector|pvt=Private|fr=Father|st=Saint|mt=Mount|ft=Fort|messrs=Messieurs|drs=Doctors
  sta=Santa|pt=Point|co=County`);
// Abbreviations that stand after a name, with their spoken forms.
const AFTER_NAME =
  table(`dr=Drive|st=Street|ave=Avenue|av=Avenue|blvd=Boulevard|rd=Road|ln=Lane|sq=Square|pl=Place|hwy=Highway|pkwy=Parkway
  ct=Court|jr=Junior|sr=Senior|inc=Incorporated|corp=Corporation|ltd=Limited|co=Company|bros=Brothers|plz=Plaza|cir=Circle|ter=Terrace|pk=Park|trl=Trail|expy=Expressway|tpke=Turnpike|mts=Mountains|univ=University|mtn=Mountain`);
// Abbreviations that stand before a number, with their spoken forms.
const BEFORE_NUMBER =
  table(`no=number|nos=numbers|nr=number|p=page|pp=pages|pg=page|pgs=pages|vol=volume|vols=volumes|ch=chapter|chap=chapter
  fig=figure|figs=figures|sec=section|sect=section|art=article|par=paragraph|para=paragraph|eq=equation|eqs=equations|ed=edition|op=opus|apt=apartment
  ste=suite|ext=extension|tel=telephone|ver=version|v=version|pt=part|bk=book|lot=lot|eqn=equation|eqns=equations|sc=scene|rm=room|l=line|ll=lines|ca=circa|c=circa|hwy=highway|rte=route|rt=route
  sr=senior|est=established|art=article|q=question|fn=footnote|cl=clause|bldg=building|ex=example|tab=table|n=number|rs=rupees|acct=account|b=born|d=died`);
// Expanded only if a full stop follows, such as `Dept.` to "department".
const WITH_STOP =
  table(`approx=approximate|dept=department|govt=government|asst=assistant|misc=miscellaneous|avg=average|max=maximum|min=minimum
  temp=temperature|incl=including|excl=excluding|est=estimated|viz=namely|cf=compare|al=al|assoc=associate|assn=association|dist=district|intl=international
  attn=attention|ref=reference|resp=respectively|esp=especially|ed=editor|eds=editors|trans=translated|pop=population|orig=originally|subj=subject|tel=telephone
  vs=versus|v=versus|etc=et cetera|ext=extension|natl=national|mfg=manufacturing|mgr=manager|ave=Avenue|inc=Incorporated|ltd=Limited|corp=Corporation
  jr=Junior|sr=Senior|appt=appointment|dir=director|bldg=building|fl=floor|hr=hour|hrs=hours|mo=month|mos=months|yr=year|yrs=years|wk=week|wks=weeks|oz=ounces
  lb=pounds|lbs=pounds|ft=feet|tbsp=tablespoon|tsp=teaspoon|gal=gallon|qtr=quarter|qtrs=quarters|wt=weight|edn=edition|pres=president|prof=professor|gov=governor|sgt=sergeant|capt=captain|col=column|univ=university`);
const WITHOUT_STOP =
  table(`vs=versus|etc=et cetera|approx=approximately|w/=with|w/o=without|b/c=because|c/o=care of|i/o=I O|n/a=not applicable|either/or=either or|on/off=on off|he/him=he him|she/her=she her|they/them=they them|a/c=A C
  aka=also known as|a.k.a=also known as|e.g=for example|eg=for example|i.e=that is|ie=that is|et.al=and others|p.s=P S|n.b=N B|and/or=and or|mr=Mister|mrs=Missus|dr=Doctor
  dept=department|govt=government|jr=Junior|blvd=Boulevard|ave=Avenue|ok=okay|he/she=he or she|she/he=she or he|his/her=his or her|s/he=she or he
  him/her=him or her|attn=attention|ph.d=P H D|tl;dr=T L D R|24/7=twenty-four seven|q&a=Q and A|r&d=R and D|p&l=P and L|w/e=weekend|phd=P H D|pls=please|thx=thanks
  at&t=A T and T|btw=by the way|npm=N P M|ctrl=control|fyi=F Y I|asap=A S A P|faq=F A Q|diy=D I Y|eta=E T A|rip=R I P|p.o=P O|o.k=okay|c++=C plus plus|c#=C sharp
  f#=F sharp|g++=G plus plus|.net=dot net|node.js=node dot J S|notepad++=Notepad plus plus`);
// In lower case and without a full stop, these abbreviations are ordinary words.
const CAPITALS_ONLY = new Set(['rip', 'eta', 'ie', 'asap', 'fyi', 'diy', 'faq', 'dr', 'ok', 'eg']);

/** Returns how an abbreviation is read aloud; undefined if the word is not an abbreviation in this context. */
export function readAbbreviation(word: string, place: Place, text: string): ReadWord | undefined {
  const { after, end } = place.tokens[place.at] ?? { after: '', end: 0 };
  const hasStop = after.startsWith('.') && !after.startsWith('..');
  const lower = word.toLowerCase();
  if (word.length > 14 || (word === 'V' && NUMBERED.test(previousWord(place)))) return undefined;
  const following = text
    .slice(end + 1, end + 30)
    .trimStart()
    .replace(/^["“(]/, '');
  const [previous, next] = [previousWord(place), followingToken(place, hasStop)];
  const area = hasStop || /^\d/.test(previous) ? AREAS.get(lower) : undefined;
  if (area !== undefined && /^(?:ft|in|mi|m|km|yd|cm|oz)$/.test(next))
    return { spoken: area, takesStop: hasStop };
  const stop =
    hasStop &&
    following !== '' &&
    (isAbbreviation(word, following) || /^[\p{Ll}\d]/u.test(following));
  const read = (spoken: string | undefined, takesStop = stop): ReadWord | undefined =>
    spoken === undefined ? undefined : { spoken, takesStop };
  const isCounted =
    (/^[\d#]|^[IVX]{2,}$|^[A-Z]{1,3}-?\d/.test(next) && !(word === 'N' && ORDINAL.test(next))) ||
    (/^(?:art|ch|vol|bk|pt|sec)$/.test(lower) && hasStop && /^[IVX]$/.test(next)) ||
    (/^pp?$/.test(lower) && LOWER_ROMAN.test(next));
  if (lower === 'no' && hasStop && next === 'of') return read('number', true);
  const isClear = hasStop || /^(?:no|nos|vol|fig|ch|pp|apt|ext|tel|ste|hwy|rte?)$/.test(lower);
  const number = isCounted && isClear ? BEFORE_NUMBER.get(lower) : undefined;
  const isTitled = /^(?:Ft|Mt|St|Pt)$/.test(word) && isName(next);
  const isApart = place.tokens[place.at]?.before !== '' || place.tokens[place.at - 1]?.after !== '';
  const isAmount =
    /^\d[^°]*$/.test(previous) && !isApart && !isTitled && !/^(?:hwy|rte?)$/.test(lower);
  if (number !== undefined && !isAmount) return read(matchCase(number, word), hasStop);
  const compass = readCompass(word, place, hasStop);
  if (compass !== undefined) return compass;
  const isOne = isOneOrLess(place);
  const inRecipe = RECIPE.get(lower);
  const unitWord =
    inRecipe === undefined
      ? (unitName(word, isOne) ?? unitName(lower, isOne))
      : inflect(inRecipe, isOne);
  const unit = isAmount && hasStop ? unitWord : undefined;
  if (unit !== undefined) return read(unit);
  if (/^edn?$/.test(lower) && /^(?:\d+(?:st|nd|rd|th)|rev)$/.test(previous)) return read('edition');
  if (lower === 'rev' && (next === 'ed' || /^edn?$/.test(previous))) return read('revised');
  if (/^[A-Z]/.test(word)) {
    const named = readNameAbbreviation(lower, place, hasStop);
    if (named !== undefined) return read(named.spoken, named.takesStop ?? stop);
  }
  // The time zone, unlike `Est. 1985`.
  if (word === 'EST') return undefined;
  const isOfNumber = lower === 'approx' && /^[\d\p{Sc}]/u.test(following);
  const long = isOfNumber ? undefined : WITH_STOP.get(lower);
  const spoken = hasStop ? (long ?? WITHOUT_STOP.get(lower)) : undefined;
  if (spoken !== undefined && !(lower === 'max' && /^[A-Z]/.test(word)))
    return read(matchCase(spoken, word));
  const isOther = CAPITALS_ONLY.has(lower) && word === lower && !hasStop;
  return isOther ? undefined : read(WITHOUT_STOP.get(lower));
}

/** Returns the compass point of an address, such as `north` for the `N.` of `12 N. Main St.` */
function readCompass(word: string, place: Place, hasStop: boolean): ReadWord | undefined {
  const point = COMPASS.get(word);
  const isStreet =
    isName(followingToken(place, hasStop)) || ORDINAL.test(followingToken(place, hasStop));
  const street = place.tokens[place.at + 2]?.text ?? '';
  const isWay = /^(?:go|goes|going|head|heads|headed|turn|turns|drive|travel|bear)$/i.test(
    previousWord(place),
  );
  if (point !== undefined && isWay && hasStop) return { spoken: point, takesStop: true };
  const isOnStreet = STREET.test(street) || followingToken(place, hasStop) === 'Broadway';
  if (point === undefined || !isStreet || !isOnStreet || isName(previousWord(place)))
    return undefined;
  return { spoken: point, takesStop: hasStop };
}

const ORDINAL = /^\d+(?:st|nd|rd|th)$/;
const STREET =
  /^(?:St|Street|Ave|Av|Avenue|Blvd|Boulevard|Rd|Road|Dr|Drive|Ln|Lane|Pl|Place|Ct|Court|Hwy|Pkwy|Sq|Way)$/;

function readNameAbbreviation(lower: string, place: Place, hasStop: boolean): ReadWord | undefined {
  const [previous, next] = [previousWord(place), followingToken(place, hasStop)];
  const date = SHORT_DATES.get(lower);
  const isExam = place.tokens[place.at]?.text === 'SAT' && /^\d{3,4}$/.test(next);
  const dates = lower.split('-').map((one) => SHORT_DATES.get(one));
  if (dates.length === 2 && !dates.includes(undefined)) return { spoken: dates.join(' to ') };
  const isRange = [nextWord, previousWord].some(
    (word) => word(place) === '–' && SHORT_DATES.has(word(place, 2).toLowerCase()),
  );
  const isBesideDate =
    /^\d/.test(next + previous) || monthNamed(place.tokens[place.at + 1]?.text ?? '') !== undefined;
  if (
    date !== undefined &&
    !/%/.test(next + previous) &&
    !isExam &&
    (hasStop ||
      isRange ||
      (isBesideDate && (lower !== 'sun' || monthNamed(nextWord(place, 2)) !== undefined)))
  )
    return { spoken: date };
  const isAfterName =
    isName(previous) && !TITLES.has(previous.toLowerCase()) && !monthNamed(previous);
  const after =
    isAfterName || /^\d+(?:st|nd|rd|th)$/.test(previous) ? AFTER_NAME.get(lower) : undefined;
  if (after !== undefined && (hasStop || (lower.length > 2 ? lower !== 'sr' : !isName(next))))
    return { spoken: after };
  const before = isName(next) ? TITLES.get(lower) : undefined;
  const isTitle = hasStop || /^(?:dr|mr|mrs|ms|st|mt|prof)$/.test(lower);
  return before === undefined || !isTitle ? undefined : { spoken: before, takesStop: hasStop };
}

function followingToken({ tokens, at }: Place, hasStop: boolean): string {
  const { after = '' } = tokens[at] ?? {};
  return after === '' || (hasStop && after === '.') ? (tokens[at + 1]?.text ?? '') : '';
}

function matchCase(spoken: string, written: string): string {
  return /^[A-Z]/.test(written) ? spoken.charAt(0).toUpperCase() + spoken.slice(1) : spoken;
}

// Abbreviations with a full stop after an amount, in recipes.
const RECIPE = table(
  'lg=large/large|pt=pint|med=medium/medium|sm=small/small|c=cup|pkg=package|pkgs=package|env=envelope|btl=bottle',
);
const AREAS = table('sq=square|cu=cubic|fl=fluid');
const LOWER_ROMAN = /^(?=[ivxl]{2,6}$|[ivx]$)[xl]*(?:ix|iv|v?i{0,3})$/;
const DOTTED = /^(?:[A-Za-z]\.){1,8}[A-Za-z]?$/;

/** Returns the spoken form of letters with full stops, such as `U.S.` or `a.m.`. */
export function readDotted(word: string, place: Place, text: string): ReadWord | undefined {
  const isInitial = /^[A-Z]$/.test(word);
  if (!isInitial && (!DOTTED.test(word) || word.length < 3)) return undefined;
  const { after = '', end = 0 } = place.tokens[place.at] ?? {};
  const following = text.slice(end + 1, end + 30).trimStart();
  const letters = word.replaceAll('.', '');
  const takesStop = after.startsWith('.') && following !== '' && isAbbreviation(word, following);
  return isInitial && !takesStop ? undefined : { spoken: spellLetters(letters), takesStop };
}

/** Separates letters by spaces, so that a voice spells them: `API` → `A P I`. */
export function spellLetters(letters: string): string {
  return Array.from(letters.toUpperCase()).join(' ');
}

// Words in capital letters that a voice speaks as words.
const SPOKEN = new Set(
  words(`NASA NATO UNESCO UNICEF OPEC AIDS SARS MERS COVID FIFA UEFA NAFTA ASEAN DARPA CERN OSHA FEMA NOAA SCOTUS POTUS SWAT PIN PINs SIM
   RAM ROM GIF JPEG ASCII BASIC COBOL JSON YAML TOML CAPTCHA LAN WAN NAS RAID BIOS SCUBA RADAR LASER SONAR MIDI CRUD REST SOAP AJAX WASM LAMP
   IKEA LEGO VISA YOLO FOMO AWOL PETA HIPAA GAAP TASER UNIX LINUX EPUB DOS SAT ACT TED BART NIMBY ETA EULA ISIS HAMAS OPEN GIS CAD DOOM
   THE AND FOR NOT YOU ALL ARE BUT NEW NOW OUT CAN GET SET PUT ADD END LOG TOP BIG HOT OFF HOW WHY WHO WAS HAS HAD ANY ONE TWO SIX TEN
   MY WE HE IF IN IS AT TO OF NO ON OR SO UP BY AN AS BE DO GO ME BUY MAX MIN KEY JOB DAY MAN MEN RED WAR LAW RUN USE TRY SEE SAY YES ITS
   HIS HER HIM OUR WAY TOO OLD BAD CAR DOG CAT BOX KIT LOT MAP NET PRE RAW SUM TAG TAX TIP WEB WIN WON ZIP ART AIR BAR BUS CUT DRY EAT EGG
   EYE FAR FIT FIX FLY FUN GAS GOT GUN HIT HOT ICE ILL INK JOY LED? LEG LET LIE LOW MAY NOR ODD OIL OWN PAY PER POP RAN SAD SEA SIT SKY SUN
   TEA THEY THIS THAT SHE DID DIE ERR WARN INFO NULL TRUE FALSE TODO FIXME NOTE STOP LIVE OVER ONLY HELP`),
);
// Words in capital letters that a voice spells, although they could be spoken as words.
const SPELLED = new Set(
  words(`UCLA USDA ISBN IEEE NCAA NAACP ACLU ESPN AARP IUCN IPCC LGBTQ LGBTQIA RSVP USSR NYSE OECD UNHCR ICMP IMAP MIT OK HIV IOU UFO ATM USA UAE UAV
   AI IT US UK EU UN OS UI UX ID IDE IP IO API URI ALU AWS EOF IOT IRA IRS ISO ISS IUD IVF LED OOP UPS USB UTC VIP UAT ABI ADHD AFAIK ETF
   IPO IPA EPA FDA AFL NBA FWIW ACL AES RSA DNA RNA CEO CFO CTO COO CIO SUV TV PC DJ MC BBQ DIY AKA EDT EST AEST IEC ITU UTF EUR USD GUI CLI TUI
   ASAP IMO SEO SAS IBM EOD OEM ABC NPR BBC CIA FAQ ACM AMD ARM? ECB IMF UNO HVAC IMDB GOP NIH SEC HUD VAT LAX`),
);
// Names with several capital letters that are read unchanged.
const NAMES = new Set(
  words(`GitHub GitLab YouTube JavaScript TypeScript PayPal LinkedIn FedEx MasterCard PowerPoint WordPress PlayStation WhatsApp TikTok DevOps FaceTime AirPods
   DeepMind BlackBerry HarperCollins LaTeX iPhone iPhones iPad iPads iMac iCloud eBay eBook eBooks MacBook AirBnB DoorDash OpenStreetMap PyTorch TensorFlow CoffeeScript
   AirTag InDesign BuzzFeed HubSpot SoundCloud PhotoShop DreamWorks QuickTime FireFox NetFlix DuckDuckGo CloudFlare WeChat WeWork YouTuber WiFi HiFi ChromeOS`),
);
const SPECIAL =
  table(`iOS=I O S|iPadOS=i Pad O S|macOS=mac O S|PhD=P H D|PhDs=P H Ds|MySQL=my S Q L|PostgreSQL=Postgres Q L|NoSQL=no S Q L|SQLite=S Q Lite
  MongoDB=Mongo D B|IEEE=I triple E|NCAA=N C double A|NAACP=N double A C P|AAA=triple A|OpenAI=Open A I|ChatGPT=Chat G P T|SpaceX=Space X|OpenSSL=Open S S L|kHz=kilohertz
  McDonald=McDonald|LaTeX=LaTeX|NaOH=N A O H|HCl=H C L|KCl=K C L|KBr=K B R|MgO=M G O|CaO=C A O|ZnO=Z N O|mRNA=M R N A|WiFi=WiFi|WWII=World War two|WWI=World War one|OAuth=O Auth|IoT=I O T|SaaS=SaaS|eSIM=E SIM|DVDs=D V Ds|BSc=B S C|MSc=M S C|BA=B A|VoIP=voip|PwC=P W C|JPEGs=JPEGs|DoD=D O D|DoJ=D O J
  LLMs=L L Ms|GIFs=GIFs|AIs=A Is|TVs=T Vs|PDFs=P D Fs|NaCl=N A C L|eCommerce=E commerce|iTunes=I Tunes|iMessage=I Message|AirPlay=AirPlay|CompuServe=CompuServe|MPs=M Ps|tvOS=T V O S|watchOS=watch O S|LaGuardia=LaGuardia`);
const FAMILY_NAME = /^(?:Mc|Mac|De|Le|La|Van|Di|Du|Fitz|O['’]|D['’])[A-Z][a-z]+$/;
const CAPITALS = /^[A-Z]{2,12}$/;
const PLURAL_CAPITALS = /^([A-Z]{2,8})s$/;
const SHOUTED = /^[A-Z]{4,}$/;
const UNSPEAKABLE =
  /^(?![SCPT]H?[RLHW]|SCH|SQU)[^AEIOUY]{3}|[^AEIOUY]{5}|^[^AEIOUY]+$|^(?:[BDFGHJKLMNPQRVXZ][BCDFGJKMNPQSTVXZ])|[^AEIOUYNRLSTCM][^AEIOUYSTDLHRKN]$/;

/**
 * Returns the spoken form of a word with several capital letters: spelled, split at its capitals,
 * or unchanged.
 */
export function readCapitals(word: string, place: Place): string {
  const special = SPECIAL.get(word) ?? readState(word, place);
  if (special !== undefined) return special;
  if (NAMES.has(word) || FAMILY_NAME.test(word)) return word;
  const [, singular] = PLURAL_CAPITALS.exec(word) ?? [];
  if (singular !== undefined)
    return isSpelled(singular, place) ? `${spellLetters(singular)}s` : word;
  if (CAPITALS.test(word)) return isSpelled(word, place) ? spellLetters(word) : word;
  const parts = word.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z'’]+|[^A-Za-z]+|[A-Z]/g);
  if (parts === null || !/[a-z][A-Z]|[A-Z]{2}[a-z]/.test(word) || /[^\x20-\x7E]/.test(word))
    return word;
  return parts
    .map((part) => (CAPITALS.test(part) && isSpelled(part, place) ? spellLetters(part) : part))
    .join(' ');
}

// States of the US by their postal codes.
const STATES = table(
  `AL=Alabama|AK=Alaska|AZ=Arizona|AR=Arkansas|CA=California|CO=Colorado|CT=Connecticut|DE=Delaware|FL=Florida|GA=Georgia|HI=Hawaii|ID=Idaho
  IL=Illinois|IN=Indiana|IA=Iowa|KS=Kansas|KY=Kentucky|LA=Louisiana|ME=Maine|MD=Maryland|MA=Massachusetts|MI=Michigan|MN=Minnesota
  MS=Mississippi|MO=Missouri|MT=Montana|NE=Nebraska|NV=Nevada|NH=New Hampshire|NJ=New Jersey|NM=New Mexico|NY=New York|NC=North Carolina
  ND=North Dakota|OH=Ohio|OK=Oklahoma|OR=Oregon|PA=Pennsylvania|RI=Rhode Island|SC=South Carolina|SD=South Dakota|TN=Tennessee|TX=Texas
  UT=Utah|VT=Vermont|VA=Virginia|WA=Washington|WV=West Virginia|WI=Wisconsin|WY=Wyoming|DC=D C`,
);
const ZIP = /^\d{5}(?:-\d{4})?$/;
// Words and abbreviations with other meanings. They are states only before a ZIP code.
const DOUBTFUL_STATE = /^(?:CO|HI|ID|MA|MD|MS|OK|PA)$/;

/** Returns the state of an address, as in `Austin, TX 78701` or `Austin, TX`. */
function readState(word: string, place: Place): string | undefined {
  const state = STATES.get(word);
  if (state === undefined || (place.at > 0 && ZIP.test(nextWord(place)))) return state;
  const city = place.tokens[place.at - 1];
  // The first word of a sentence may be another one: `However, CT scans …`.
  const isAfterCity = place.at > 1 && city?.after === ',' && /^[A-Z][a-z]/.test(city.text);
  const isShouted = SHOUTED.test(nextWord(place));
  return isAfterCity && !isShouted && !DOUBTFUL_STATE.test(word) ? state : undefined;
}

function isSpelled(word: string, place: Place): boolean {
  const isShouted = [previousWord(place), nextWord(place)].some(
    (one) => SHOUTED.test(one) || (CAPITALS.test(one) && SPOKEN.has(one)),
  );
  if (word === 'WHO' && /^the$/i.test(previousWord(place))) return true;
  if (SPOKEN.has(word) || isSpeaker(word, place)) return false;
  if (SPELLED.has(word)) return !(isShouted && /^(?:IT|US)$/.test(word));
  if (word.length <= 3) return !(isShouted && /^[^AEIOU][AEIOU][^AEIOU]$/.test(word));
  return UNSPEAKABLE.test(word);
}

/** Returns true for a first name in capitals that says who speaks, as in `BOB: Hello.` */
function isSpeaker(word: string, { tokens, at }: Place): boolean {
  return FIRST_NAMES.has(word) && /^\)?:/.test(tokens[at]?.after ?? '');
}

// First names that look like abbreviations. Longer ones are read as words.
const FIRST_NAMES = new Set(
  words(`ABE ADA AMY ANA ANN AVA AXL BEA BEN BOB CAL DAN DEB DON DOT EVA EVE GIL GUS GUY HAL IAN IDA IRA IVY JAN JED JEN JIM JOE JON JOY KAI KAY
   KEN KIM KIT LEE LEN LEO LEX LIZ LOU LUZ MAE MAX MAY MEG MEL MIA MOE NAN NAT NED NIA NOA PAM PAT PEG RAE RAY REX ROB ROD RON ROY SAL SAM SID SKY
   STU SUE TAD TED TIM TOM UNA VAL VIC WES ZOE ZOË AL BO CY ED JO TY VI`),
);

// After these nouns, a Roman numeral is read as a number, as in `Chapter IV`.
const NUMBERED =
  /^(?:iphone|art|ch|bk|pt|sec|chapters?|parts?|acts?|scene|books?|volumes?|vols?|sections?|article|title|phase|type|class|level|war|episode|season|appendix|figure|table|bowl|apollo|mark|stage|grade|schedule|amendment|division|group|category|fantasy|zone|layer|tier|rocky|saturn|unit|canto|psalm|step|round|gemini|annex|factor|corps|quarto|plate|rule|lesson|module|stalingrad|game|civilization|trek|vatican|zeppelin)$/i;
// After these first names of monarchs and popes, a Roman numeral is read as an ordinal number.
const REGNAL = new Set(
  words(`Henry Louis Charles George Edward Elizabeth James William Richard Philip Ferdinand Francis Pius Paul Benedict Leo Gregory Innocent Clement Napoleon
   Nicholas Alexander Catherine Frederick Wilhelm Otto Mary Ivan Peter Ramses Ramesses Ptolemy Cleopatra Thutmose Xerxes Darius Harald Gustav Christian Alfonso
   Pedro Haakon Felipe Rama Mehmed Selim Murad Suleiman Urban Boniface Celestine Sixtus Julius Malcolm David Robert Kenneth Stephen Harold Carl Karl Ludwig
   Leopold Albert Baldwin Umberto Emmanuel Margrethe John Juan Carlos Adrian Nicholas Isabella Joseph Maximilian Sigismund Olaf Erik Canute Artaxerxes Cyrus Amenhotep
   Tiberius Constantine Justinian Thomas Michael Walter Davis Howard Winston`),
);
const CROWNED =
  /^(?:King|Queen|Pope|Emperor|Empress|Tsar|Czar|Kaiser|Prince|Princess|Sultan|Pharaoh)$/;
const AFTER_MONARCH =
  /^(?:of|reigned|ruled|died|succeeded|ascended|granted|abdicated|became|ordered)$/;

/**
 * Returns the spoken form of a Roman numeral after a noun or a name; undefined for any other word.
 */
export function readRoman(word: string, place: Place): string | undefined {
  const before = previousWord(place);
  const { region } = place;
  const isSmall = /^pp?$/.test(before) || (word.length > 1 && NUMBERED.test(before));
  if (isSmall && LOWER_ROMAN.test(word)) {
    return cardinal(romanValue(word.toUpperCase()) ?? 0, region);
  }
  const range = /^([IVX]{1,6})[-–]([IVX]{1,6})$/.exec(word);
  if (range !== null && NUMBERED.test(before)) {
    const [from, to] = [romanValue(range[1] ?? ''), romanValue(range[2] ?? '')];
    return from === undefined || to === undefined
      ? undefined
      : `${cardinal(from, region)} to ${cardinal(to, region)}`;
  }
  if (!/^[IVXLCDM]+$/.test(word)) return undefined;
  const value = romanValue(word);
  if (value === undefined) return undefined;
  if (word.length >= 5 && value > 1000 && value < 2100) return year(value, region);
  if (isNumbered(word, place)) return cardinal(value, region);
  if (nextWord(place) === 'century' && value < 40) return ordinal(value, region);
  if (isName(before) && value < 40) return afterName(word, value, place);
  return CLEARLY_ROMAN.test(word) ? cardinal(value, region) : undefined;
}

const CLEARLY_ROMAN = /^(?:II|III|VII|VIII|IX|XII|XIII|XIV|XVI{0,3}|XIX|XXI{0,3}|XXIV)$/;
const AFTER_PRONOUN =
  /^(?:like|liked|think|know|knew|love|loved|want|need|have|had|am|was|will|would|could|can|see|saw|read|wrote|enjoy|enjoyed|remember|mean|hate|prefer|do|did|took|made|bought|play|played|chose|got)$/;
const AFTER_NUMBERED = /^(?:of|and|is|to|in|on|for|with|are|has|–|-)?$/;

function isNumbered(word: string, place: Place): boolean {
  const isNext =
    /^(?:–|-|to|and|or|of)$/.test(previousWord(place)) &&
    romanValue(previousWord(place, 2)) !== undefined;
  const noun = previousWord(place, isNext ? 3 : 1);
  if (!NUMBERED.test(noun) || /^[LCDM]$/.test(word)) return false;
  const next = nextWord(place);
  return (
    word !== 'I' ||
    (/^[A-Z]/.test(noun)
      ? !AFTER_PRONOUN.test(next) || isName(previousWord(place, 2))
      : AFTER_NUMBERED.test(next) && next !== '')
  );
}

function afterName(word: string, value: number, place: Place): string | undefined {
  const { region } = place;
  const [before, earlier, next] = [previousWord(place), previousWord(place, 2), nextWord(place)];
  const isMonarch = REGNAL.has(before);
  if (word === 'I') {
    const isPair = next === 'and' && romanValue(nextWord(place, 3)) !== undefined;
    const isEnd =
      next === '' || AFTER_MONARCH.test(next) || isPair || (next === 'was' && place.at === 1);
    return isMonarch && (CROWNED.test(earlier) || isEnd)
      ? `the ${ordinal(value, region)}`
      : undefined;
  }
  if (before === 'Malcolm' && word === 'X') return undefined;
  if (isMonarch) return `the ${ordinal(value, region)}`;
  if (word.length === 1 || /^[LCDM]/.test(word)) return undefined;
  if (CROWNED.test(earlier) || REGNAL.has(earlier)) return `the ${ordinal(value, region)}`;
  return cardinal(value, region);
}

/** Returns the spoken form of a unit that follows a number and a space, as in `5 km`; undefined for any other word. */
export function readUnit(word: string, place: Place): string | undefined {
  const before = previousWord(place);
  if (/^[ap]\.?m$/i.test(word) && /^\d[\d:.]*$/.test(before))
    return `${word.charAt(0).toUpperCase()} M`;
  if (before.endsWith('°') && COMPASS.has(word)) return COMPASS.get(word);
  if (word === 'in' && /^(?:ft|feet|foot)$/.test(previousWord(place, 2))) return 'inches';
  const isArea = /^(?:sq|cu|fl)$/.test(before) && COUNT.test(previousWord(place, 2));
  if (!isArea && !COUNT.test(before)) return undefined;
  const next = nextWord(place);
  if (word === 'm' && /^\p{Lu}/u.test(next)) return undefined;
  if (place.tokens[place.at - 1]?.after.includes(',') === true) return undefined;
  const isOne = isOneOrLess(place) || isAdjective(place, 2);
  const isClear = isUnit(word) || (/^[VWAJNst]$/.test(word) && !/^\p{Lu}/u.test(next));
  return isClear ? unitName(word, isOne) : undefined;
}

/** Returns true if the amount before a unit is 1 or a fraction, unlike the `2 1/2` of `2 1/2 cups`. */
function isOneOrLess(place: Place): boolean {
  const amount = previousWord(place);
  return /\//.test(amount)
    ? /^\d\/\d+$/.test(amount) && !/^\d+$/.test(previousWord(place, 2))
    : /^(?:[-−+]?1|[½¼¾⅓⅔])$/.test(amount);
}

const COUNT = /^[-−+~≈<>≤≥±]?\d[\d.,/×x^⁰¹²³⁴-⁹-]*$|[½¼¾⅓⅔]$/;
/** Spoken names of the compass points that can follow degrees. */
export const COMPASS: ReadonlyMap<string, string> = table(
  'N=north|S=south|E=east|W=west|NW=northwest|NE=northeast|SW=southwest|SE=southeast',
);

/**
 * Returns true if an amount with a unit stands before a noun, as in `a 5 km run`. The unit is then spoken in the
 * singular.
 */
export function isAdjective(place: Place, back = 1): boolean {
  return (
    /^(?:a|an|the)$/i.test(previousWord(place, back)) &&
    /^(?!(?:of|per|or|and|in|to|from|at|on|for|between|away|long|wide|tall|high|deep|apart|later|ago|is|was|are|were|that|which|we|he|she|they|it|you|i|more|less)$)[a-z]/.test(
      nextWord(place),
    )
  );
}
