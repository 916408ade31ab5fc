import { expect, test } from 'vitest';
import { guessLanguage } from '../../src/text/guess-language.ts';

test.each([
  ['fr', 'Bonjour, comment allez-vous ? Je suis très heureux de vous rencontrer aujourd’hui.'],
  ['fr', 'C’est la vie : on ne sait pas ce qui arrive.'],
  ['de', 'Der Zug nach München fährt heute leider erst um zehn Uhr ab.'],
  ['de', 'Guten Morgen, wie geht es Ihnen heute?'],
  ['es', 'Buenos días, ¿cómo está usted hoy?'],
  ['it', 'Il treno per Milano parte alle dieci e non è in ritardo.'],
  ['pt', 'O trem para o Rio sai às dez e não está atrasado.'],
  ['nl', 'Goedemorgen, hoe gaat het vandaag met u?'],
])('guesses %s for %j', (code, text) => {
  expect(guessLanguage(text)?.code).toBe(code);
});

test.each([
  'Hello from foley',
  'Hi',
  'The quick brown fox jumps over the lazy dog.',
  'Café au lait, a résumé and naïve Zoë.',
  'Meeting at 10 a.m. with Dr. Müller in Köln about the API.',
  'I met Charles de Gaulle, Simón de la Cruz and Ludwig van der Rohe.',
  'Alice Bob Carol Dave Erin Frank Grace Heidi Ivan Judy',
  'O Romeo, o Romeo! Do as I do.',
  'Die Hard, Das Boot and La La Land are films that he likes.',
  'Lorem ipsum dolor sit amet, consectetur adipiscing elit.',
  'npm install foley && foley tts hello.txt',
  '你好，今天天气很好。',
  '1, 2, 3.',
  '',
])('guesses no other language for %j', (text) => {
  expect(guessLanguage(text)).toBeUndefined();
});
