import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { removeKaomoji } from '../../src/service/speech/kaomoji.ts';

describe('the kaomoji filter', () => {
  it.each([
    ['Hi (◕‿◕) you', 'Hi you'],
    ['Hi(◕‿◕)you', 'Hiyou'],
    ['(´・ω・`) Good morning', 'Good morning'],
    ['Good morning (´・ω・`)', 'Good morning'],
    ['Well (´・ω・`) now (´・ω・`) then', 'Well now then'],
    ['Done (╯°□°)╯︵ ┻━┻ at last', 'Done at last'],
    ['Done (╯°□°）╯︵ ┻━┻', 'Done'],
    ['No idea ¯\\_(ツ)_/¯ sorry', 'No idea sorry'],
    ['A bear ʕ•ᴥ•ʔ here', 'A bear here'],
    ['Yes ヽ(´▽`)/ yes', 'Yes yes'],
    ['Magic (ﾉ◕ヮ◕)ﾉ*:･ﾟ✧ done', 'Magic done'],
    ['Why (ಠ_ಠ) why', 'Why why'],
    ['Cute (≧▽≦)!', 'Cute !'],
    ['Hm ( ͡° ͜ʖ ͡°) hm', 'Hm hm'],
    ['Hug (づ｡◕‿‿◕｡)づ please', 'Hug please'],
    ['Tears (T▽T) and (╥﹏╥)', 'Tears and'],
    ['Cool (⌐■_■) cool', 'Cool cool'],
    ['（￣▽￣） full width', 'full width'],
    ['(>ω<)(•_•)(◕‿◕)', ''],
    ['Hi (＾▽＾) you', 'Hi you'],
    ['Hi (＾ω＾)', 'Hi'],
    ['Hi (⌒▽⌒) you', 'Hi you'],
    ['Hi ಠ_ಠ you', 'Hi you'],
    ['Hi (；一_一) you', 'Hi you'],
    ['Hi ‹(￣︶￣)› you', 'Hi you'],
    ['Hi (＾◡＾) (⌒_⌒;) (¬‿¬) ಥ﹏ಥ you', 'Hi you'],
  ])('removes %j', (text, expected) => {
    expect(removeKaomoji(text).trim()).toBe(expected);
  });

  it('knows a face by its eyes and its mouth, whatever draws them', () => {
    const [eyes, mouths] = ['＾⌒￣◕•◎◆▼◠˘´', '▽ω_◡︶﹏‿∀益'];
    for (const eye of eyes) {
      for (const mouth of mouths) {
        for (const face of [`(${eye}${mouth}${eye})`, `（${eye} ${mouth} ${eye}）`]) {
          expect(removeKaomoji(`a ${face} b`), face).toBe('a b');
        }
      }
    }
  });

  it.each([
    ['ratings and lines', 'Rated (★★★) (☆☆☆☆) (───) (■■■)'],
    ['BMP emoji', 'Nice (☺☹☺) (©®©) (♻︎)'],
    ['signs in brackets', 'So (→) (±5) (… — …) (一二一) (一、一) (10°–20°) (× ÷)'],
    ['Kannada', 'ಕನ್ನಡ ಠ_ಠಕ ಕಠ_ಠ'],
    ['emoji', 'Nice 😀 👩‍👩‍👧 (😀) 🎉'],
    ['ASCII faces', 'Nice :-) ;) (^_^) (o_O) (>_<) (T_T) (-_-) <3'],
    ['asides', 'It is (as you know) late (see 3) (α, β) (东京) (笑)'],
    ['mathematics', 'Let (x∇x) and (a·b) and (x, y) and (n∀n) hold at 20 (°C)'],
    ['half a face', 'This (◕‿ is not whole ◕) and ◕‿◕ has no brackets'],
    ['a shrug without arms', 'The letter (ツ) is tu'],
    ['inline code', 'Write `print("(◕‿◕)")` there'],
    ['fenced code', '```\n(◕‿◕)\n```'],
    ['URLs', 'See https://example.com/(◕‿◕)/page and www.example.com/(•_•)'],
    ['quoted literals', 'He typed "(◕‿◕)" and “(•_•)” and «(•_•)» and 「(•_•)」'],
    ['single-quoted literals', "He typed '(◕‿◕)' there"],
    ['tags', '<break note="(◕‿◕)"/> and [laughs (◕‿◕)] and {x (◕‿◕)}'],
  ])('leaves %s as they are', (_name, text) => {
    expect(removeKaomoji(text)).toBe(text);
  });

  it('keeps the words around a face whole', () => {
    expect(removeKaomoji('その(◕‿◕)づつう')).toBe('そのづつう');
    expect(removeKaomoji("It's fine (◕‿◕), isn't it")).toBe("It's fine , isn't it");
  });

  it('never adds, never reorders, and never takes long', () => {
    const part = fc.constantFrom(
      '(◕‿◕)',
      '(',
      ')',
      '◕',
      '‿',
      '`',
      '"',
      "'",
      '<',
      '“',
      ' ',
      'a',
      '¯\\_',
      'http://',
      '\n',
      '[',
      '😀',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 200 }), (parts) => {
        const text = parts.join('');
        const filtered = removeKaomoji(text);
        expect(isSubsequence(filtered, text)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it.each(['(', '"', '`a', '<a', "'", 'www.', 'a://', '“', '(◕', '◕‿◕)', '[', 'a.'])(
    'takes a text of nothing but %s in its stride',
    (piece) => {
      const text = piece.repeat(20_000);
      expect(removeKaomoji(text)).toBe(text);
    },
  );
});

function isSubsequence(part: string, whole: string): boolean {
  let at = 0;
  for (let index = 0; index < whole.length && at < part.length; index += 1) {
    if (part[at] === whole[index]) at += 1;
  }
  return at === part.length;
}
