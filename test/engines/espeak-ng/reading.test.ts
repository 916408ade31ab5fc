import { describe, expect, it } from 'vitest';
import { phrasesIn, READ_LANGUAGES, readCharacters, rewrite } from './reading.ts';

describe.each(READ_LANGUAGES)('the reading of %s for espeak-ng', (language) => {
  const phrases = phrasesIn(language);

  it('has 60 golden phrases', () => {
    expect(phrases).toHaveLength(60);
  });

  it.each(phrases)('rewrites $kind: $written', ({ written, rewritten }) => {
    expect(rewrite(written, language)).toBe(rewritten);
  });

  it('adds no punctuation, which would make a pause inside a reading', () => {
    for (const { written } of phrases) {
      const characters = Array.from(written);
      const changed = readCharacters(written, language).filter((one, at) => one !== characters[at]);
      for (const one of changed) expect(one, written).not.toMatch(/[,;:!?]|\.(?!$)/);
    }
  });

  it('keeps the positions of the text, whatever else it holds', () => {
    const written = '🎉 12 km 🎉 <b> & é 3 kg';
    const read = readCharacters(written, language);
    expect(read).toHaveLength(Array.from(written).length);
    expect(read[0]).toBe('🎉');
    expect(read.findIndex((one) => /^[Kk]?ilog/.test(one))).toBeGreaterThanOrEqual(20);
  });

  it.each([
    '1',
    '1.',
    '1 ',
    '1 000',
    ' 000',
    '1,',
    '1-',
    '1–',
    '1/',
    '1:',
    '0 12',
    'I',
    'Aa I ',
    '$1',
    '€',
    '½',
    'z. ',
    'z.B.',
    'Nr. ',
    'am 2. und ',
    '21 casa',
    '-1 ',
    '+1 ',
    ' '.repeat(50),
    '🎉',
  ])('takes linear time for many of %j', async (piece) => {
    const timeOf = (length: number) => {
      const text = piece.repeat(length / piece.length);
      const start = performance.now();
      readCharacters(text, language);
      return performance.now() - start;
    };
    const short = Math.min(...Array.from({ length: 6 }, () => timeOf(10_000)));
    // Repeated, because another process may take the processor meanwhile.
    await expect.poll(() => timeOf(80_000)).toBeLessThan(100 + 24 * short);
  });
});

it.each([
  ['de', 'Er hat 3. Sie hat 4. Alle Windows 10. Gut'],
  ['de', 'IP 192.168.0.1, ISBN 978-3-16-148410-0, Version 1.2.3, 12:30:45 und 2024/1'],
  ['de', '1500 Kisten, A4, 1.500.000 Stück, COVID-19, Raum 3.14, Boeing 747-400, Version 1.2.34'],
  ['fr', 'IP 192.168.0.1, ISBN 978-3-16-148410-0, version 1.2.3, COVID-19'],
  ['fr', 'Il est venu. 5 hommes, 12 500 euros, vitamine C, plan B'],
  ['es', 'IP 192.168.0.1, ISBN 978-3-16-148410-0, versión 1.2.3, COVID-19'],
  ['es', 'En 2021 muchas personas, las 21 antes, del 612 345 678, vitamina D. Luego'],
])('leaves to espeak-ng what may be something else: %s %j', (language, text) => {
  expect(rewrite(text, language)).toBe(text);
});

it('leaves other languages as they are', () => {
  for (const language of ['en-US', 'it', 'zh'])
    expect(rewrite('3,50 €, z. B.', language)).toBe('3,50 €, z. B.');
  expect(rewrite('3,50 €', 'es-419')).toBe('3 euros con 50');
});

it('cuts the text behind a stretch at the limit of espeak-ng', async () => {
  const markup = new URL('../../../engines/espeak-ng/markup.mjs', import.meta.url).href;
  const { escape }: { escape: (...range: unknown[]) => { text: string; sources: number[] } } =
    await import(markup);
  const { text, sources } = escape(readCharacters('¼'.repeat(1_000), 'de'), 0, 1_000);
  expect(Buffer.byteLength(text)).toBeGreaterThan(8_000);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8_192);
  expect(sources).toHaveLength(text.length);
});
