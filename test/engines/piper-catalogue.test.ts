import { describe, expect, it } from 'vitest';
import { findPiperVoice, piperCatalogueUrl } from '../../src/engines/piper-catalogue.ts';
import { Failure } from '../../src/errors/failure.ts';

const MD5 = '2fc642b535197b6305c7c8f92dc8b24f';

/** An entry of the catalogue, as it is published. */
function entry(key: string, folder: string, changes: object = {}): Record<string, unknown> {
  const file = { size_bytes: 63_201_294, md5_digest: MD5 };
  return {
    [key]: {
      key,
      num_speakers: 1,
      speaker_id_map: {},
      files: {
        [`${folder}/${key}.onnx`]: file,
        [`${folder}/${key}.onnx.json`]: { ...file, size_bytes: 4_885 },
        [`${folder}/MODEL_CARD`]: { ...file, size_bytes: 351 },
      },
      aliases: [],
      ...changes,
    },
  };
}

const CATALOGUE = {
  ...entry('en_US-lessac-medium', 'en/en_US/lessac/medium', { aliases: ['en-us-lessac-medium'] }),
  ...entry('en_US-libritts-high', 'en/en_US/libritts/high', { num_speakers: 904 }),
  ...entry('de_DE-thorsten-x_low', 'de/de_DE/thorsten/x_low'),
  ...entry('pt_PT-tugão-medium', 'pt/pt_PT/tugão/medium'),
};

function of(files: unknown): unknown {
  return { 'a-b-low': { files } };
}

describe('the catalogue of Piper', () => {
  it('gives the files of a voice with sizes, sums and addresses', () => {
    const tree = 'https://huggingface.co/rhasspy/piper-voices';
    const folder = `${tree}/resolve/v1.0.0/en/en_US/lessac/medium`;
    expect(findPiperVoice(CATALOGUE, 'en_US-lessac-medium', 'v1.0.0')).toEqual({
      name: 'en_US-lessac-medium',
      speakers: 1,
      source: `${tree}/tree/v1.0.0/en/en_US/lessac/medium`,
      files: [
        {
          path: 'piper/en_US-lessac-medium.onnx',
          bytes: 63_201_294,
          url: `${folder}/en_US-lessac-medium.onnx`,
          md5: MD5,
          sha256: '5efe09e69902187827af646e1a6e9d269dee769f9877d17b16b1b46eeaaf019f',
        },
        {
          path: 'piper/en_US-lessac-medium.onnx.json',
          bytes: 4_885,
          url: `${folder}/en_US-lessac-medium.onnx.json`,
          md5: MD5,
        },
        {
          path: 'piper/en_US-lessac-medium.MODEL_CARD',
          bytes: 351,
          url: `${folder}/MODEL_CARD`,
          md5: MD5,
        },
      ],
    });
    expect(piperCatalogueUrl('v1.0.0').href).toBe(`${tree}/resolve/v1.0.0/voices.json`);
  });

  it('finds a voice by an earlier name, and returns how many speakers a voice has', () => {
    expect(findPiperVoice(CATALOGUE, 'en-us-lessac-medium', 'main').name).toBe(
      'en_US-lessac-medium',
    );
    expect(findPiperVoice(CATALOGUE, 'en_US-libritts-high', 'main').speakers).toBe(904);
  });

  it('stores a voice with a letter beyond ASCII under a name without it', () => {
    const { files, name } = findPiperVoice(CATALOGUE, 'pt_PT-tugão-medium', 'main');
    expect(name).toBe('pt_PT-tugao-medium');
    expect(files[0]).toMatchObject({
      path: 'piper/pt_PT-tugao-medium.onnx',
      url: expect.stringContaining('/pt/pt_PT/tug%C3%A3o/medium/pt_PT-tug%C3%A3o-medium.onnx'),
    });
    expect(findPiperVoice(CATALOGUE, 'pt_PT-tugao-medium', 'main').files).toEqual(files);
  });

  it.each([
    ['en_US-lesac-medium', /Did you mean en_US-lessac-medium/],
    ['de_DE-anna-high', /Voices of this language: de_DE-thorsten-x_low/],
    ['xx', /such as en_US-joe-medium/],
  ])('proposes other names for %s', (name, hint) => {
    expect(() => findPiperVoice(CATALOGUE, name, 'main')).toThrow(
      expect.objectContaining({ exit: 'usage', hint: expect.stringMatching(hint) }),
    );
  });

  const file = { size_bytes: 1, md5_digest: MD5 };
  it.each([
    ['a list', []],
    ['an entry without files', { 'a-b-low': {} }],
    ['a voice without a description', of({ 'x/a-b-low.onnx': file, 'x/MODEL_CARD': file })],
    ['a size of 0', of({ 'x/a-b-low.onnx': { ...file, size_bytes: 0 } })],
    ['no sum', of({ 'x/a-b-low.onnx': { size_bytes: 1 } })],
    ['a path out of the folder', of({ '../a-b-low.onnx': file })],
  ])('refuses %s', (_, catalogue) => {
    const find = (): unknown => findPiperVoice(catalogue, 'a-b-low', 'main');
    expect(find).toThrow(Failure);
    expect(find).toThrow(expect.objectContaining({ exit: 'badAnswer' }));
  });
});
