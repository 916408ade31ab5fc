import { parseJson } from '../api/response.ts';
import { nearestHint } from '../text/did-you-mean.ts';
import HIBARI_VOICES from '../../assets/voice/voices.json';
import type { Failure } from '../errors/failure.ts';
import { usageFailure } from '../errors/failure.ts';
import type { ModelFile, PublishedFile } from './download-models.ts';
import { findPiperVoice, piperCatalogueUrl } from './piper-catalogue.ts';

/** The engines with natural voices that `foley engine add NAME` installs. */
export type NaturalEngineName = 'hibari' | 'kokoro' | 'piper';

/** A program, model or voice that an engine needs. foley asks the user to accept the license of each part. */
export interface EnginePart {
  readonly what: string;
  /** License as an SPDX expression, or in the publisher's own words. */
  readonly license: string;
  readonly source: string;
  /** Size of the download in bytes. */
  readonly bytes: number;
  /** Files that foley downloads itself; empty for npm packages. */
  readonly files: readonly ModelFile[];
}

/** Disk space in bytes that npm needs for the packages of an engine, not counting the npm cache. */
export const PACKAGES_BYTES = 320_000_000;

export interface NaturalEngine {
  readonly name: NaturalEngineName;
  /** The voice that foley suggests as the default voice. */
  readonly voice: string;
  /**
   * Returns the parts to install: the given voices, and the programs and models that these voices need.
   * @param voices names of voices; if empty, the voices that are installed by default
   * @param stored names of voices that are stored already
   * @param read downloads a small file, such as a voice catalogue or a license, and returns its content
   * @throws Failure of kind `usage` for an unknown voice; errors of `read`
   */
  readonly parts: (
    voices: readonly string[],
    stored: readonly string[],
    read: ReadFile,
  ) => Promise<readonly EnginePart[]>;
}

type ReadFile = (file: PublishedFile) => Promise<Uint8Array>;

/** Returns true if the name belongs to an engine with natural voices: `hibari`, `kokoro` or `piper`. */
export function isNaturalEngine(name: string): name is NaturalEngineName {
  return name === 'hibari' || name === 'kokoro' || name === 'piper';
}

const HIBARI_SOURCE = 'https://huggingface.co/maureesewilliams/hibari';

const HIBARI: NaturalEngine = {
  name: 'hibari',
  voice: 'fenrir',
  async parts(voices) {
    const known = new Map(Object.entries(HIBARI_VOICES));
    const names = voices.length === 0 ? [...known.keys()] : [...new Set(voices)];
    return names.map((name) => {
      const voice = known.get(name);
      if (voice === undefined) throw unknownVoice('hibari', name, [...known.keys()]);
      const { bytes, file, sha256 } = voice;
      const url = `${HIBARI_SOURCE}/resolve/main/voices/${file}`;
      const files = [{ path: `hibari/${file}`, bytes, url, sha256 }];
      return part(`voice ${name}`, 'Apache-2.0', HIBARI_SOURCE, files);
    });
  },
};

function unknownVoice(engine: NaturalEngineName, name: string, known: readonly string[]): Failure {
  const hint = nearestHint(name, known, `Voices: ${known.join(', ')}`);
  return usageFailure(`${engine} has no voice "${name}"`, hint);
}

const KOKORO_VOICES_SOURCE =
  'https://huggingface.co/onnx-community/Kokoro-82M-v1.0-ONNX/resolve/1939ad2a8e416c0acfeecc08a694d14ef25f2231/voices';

const KOKORO_MODEL: ModelFile = {
  path: 'kokoro/kokoro-v1.0.int8.onnx',
  bytes: 92_361_271,
  url: 'https://github.com/thewh1teagle/kokoro-onnx/releases/download/model-files-v1.0/kokoro-v1.0.int8.onnx',
  sha256: '6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb',
};

const KOKORO_VOICE_BYTES = 522_240;

// Name and SHA-256 of each voice: the 41 of 54 whose languages foley or espeak-ng gives phonemes for.
const KOKORO_VOICES = `
  af_alloy c4a6b876047fd7fb472edf4ebd63cfac7c3b958a7cae7c106e8f038ca6308c45
  af_aoede 4a004c33430762e2461eedb2013fad808ef4ab3121f5300f554476caf58d8361
  af_bella f69d836209b78eb8c66e75e3cda491e26ea838a3674257e9d4e5703cbaf55c8b
  af_heart d583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b
  af_jessica a240a5e3c15b43563d6e923bdca8ef5613a23471d9b77653694012435df23bd8
  af_kore 9be5221b6a941c04b561959b8ff0b06e809444dcc4ab7e75a7b23606f691819e
  af_nicole cd2191ab31b914ed7b318416b0e4440fdf392ddad9106a060819aa600a64f59a
  af_nova 18778272caa0d0eebaea251c35fd635f038434f9eee5e691d02a174bd328414f
  af_river 00a2bcf82b1d86e8f19902ede58c65ccf6c0e43b44b7d74fad54e5d8933c9c30
  af_sarah 4409fbc125afabacc615d94db5398d847006a737b0247d6892b7a9a0007a2f0a
  af_sky 4435255c9744f3f31659e0d714ab7689bf65d9e77ec1cce060f083912614f0b9
  am_adam 162b035ed91cfc48b6046982184c645f72edcdd1b82843347f605d7bf7b15716
  am_echo 3968b92c3c4cd1c4416dbded36c13eaa388a90d5788d02a13e4d781f5f8cf3c3
  am_eric e8b5be17edd1e3636901ce7598baafe2dc8dd8ff707a0c23bf9e461add7e2832
  am_fenrir c27989f741f7ee34d273a39d8a595cc0837d35f5ced9a29b7cc162614616df43
  am_liam 52403be32fd047c6a44517cb0bcd6b134f2a18baa73e70ef41651e0eab921ade
  am_michael 1d1f21dd8da39c30705cd4c75d039d265e9bc4a2a93ed09bc9e1b1225eb95ba1
  am_onyx da5d135b424164916d75a68ffb4c2abce3d7d5ccc82dd1ee6cf447ce286145e6
  am_puck fcf73c989033e9233e0b98713eca600c8c74dcc1614b37009d5450ff4a2274a0
  am_santa 61150cf726ab6c5ed7a99f90a304f91f5a72c00c592e89ec94e5df11c319227a
  bf_alice 08afa6ba24da61ea5e8efa139e5aadc938d83f0a6da5a900adaf763ac1da5573
  bf_emma 669fe0647f9dd04fcab92f1439a40eeb4c8b4ab1f82e4996fe3d918ce4a63b73
  bf_isabella 3754352c4aaa46d17f27654ab7518d65b62ad6163a0f55a5f4330c2da2c4e94f
  bf_lily 5e0ee32ebe64a467124976b14e69590746f1c4ce41a12b587a50c862edfea335
  bm_daniel 6b3194bbceffb746733cbc22c8f593dd44e401a71d53895a2dca891bc595a1e8
  bm_fable f889083196807b4adb15e9204252165f503b8d33d3982e681c52443c49d798f1
  bm_george c4b235a4c1f2cd3b939fed08b899ce9385638b763f7b73a59616c4fc9bd6c9bc
  bm_lewis b8f671cef828c30e66fdf0b0756a76bba58f6bb3398cbbf27058642acbcedb97
  ef_dora f66ec66bd295acb18372e37008533a9a3228483ccd294e7538d5d9294ac9a532
  em_alex 27809e9eafdcbcfff90a3016c697568676531de2a2c39cee29c96c7bd6b83e95
  em_santa ad43b774e1ca24d05c6161297d8aeb770ac3d29bb95daf516727af5f7d543683
  ff_siwis a35f5675ad08948e326ae75fd0ea16ba5d0042e4f76b5f3d1df77d0a48c54861
  hf_alpha 040be6a4425411cc01fda5fd06693c76bfa78572632852bc8cda9c99232ffb56
  hf_beta cd83ae0bb9b2e4e4fb92b4973bd8d1822ca0036d3c498bf4fc89aa8e33917cc7
  hm_omega b02d9222d9ed00ce26b302173a862c2c93f96cc40b5c422b8d14910b9ff34137
  hm_psi 644daf88ba8aeb7bd08950bbdcd4453bb280864e49dc4df93fabc6be32e03f37
  if_sara 409b69248798fcdc2542330c76953d230710f19b057e59cb82fdc3c4cf71265c
  im_nicola bc578e510d52a96d6940d46f12e96d7b3df00905dbea075113226d100e6e1ab0
  pf_dora 3da7b5b2d91847ebf5646f57631af6ececae3c29a89cd300f06edf9aa6cfe9ee
  pm_alex 0175c753f59c54e7fd5a995bedef0c5ff2fb67e0043dd3dcb2ae74ec2acbeb2a
  pm_santa 8b012db3185778afe2e45a62cbad69db73021774fe68dda634bcc748a982eede
`;

const kokoroSums: ReadonlyMap<string, string> = new Map(
  [...KOKORO_VOICES.matchAll(/(\w+) ([0-9a-f]{64})/g)].map(([, name = '', sum = '']) => [
    name,
    sum,
  ]),
);

// Kokoro and Piper run their model with the same packages, which npm installs from `package-lock.json` of the adapter.
const RUNTIME: EnginePart = {
  what: 'ONNX Runtime, runs the model, with small packages',
  license: 'MIT, BSD-3-Clause, ISC',
  source: 'npm: onnxruntime-node',
  bytes: 114_000_000,
  files: [],
};

const ESPEAK_NG: EnginePart = {
  what: 'espeak-ng, turns text into sounds',
  license: 'GPL-3.0-or-later',
  source: 'npm: @echogarden/espeak-ng-emscripten',
  bytes: 13_000_000,
  files: [],
};

/** Returns what npm does with espeak-ng, the only optional package, for the parts of an engine. */
export function optionalPackages(parts: readonly EnginePart[]): 'include' | 'omit' {
  return parts.includes(ESPEAK_NG) ? 'include' : 'omit';
}

/** Returns whether Kokoro reads the language of a voice with espeak-ng; foley itself reads American English. */
function needsEspeakNg(voice: string): boolean {
  return /^[befhip][fm]_/.test(voice);
}

const KOKORO: NaturalEngine = {
  name: 'kokoro',
  voice: 'af_heart',
  async parts(voices, stored) {
    const names = voices.length === 0 ? [...kokoroSums.keys()] : [...new Set(voices)];
    const files = names.map((name) => kokoroVoice(name));
    return [
      part(
        names.length === 1 ? `voice ${names.join()}` : `${names.length} voices`,
        'Apache-2.0',
        'https://huggingface.co/onnx-community/Kokoro-82M-v1.0-ONNX',
        files,
      ),
      part(
        'Kokoro 82M, model in 8 bits',
        'Apache-2.0',
        'https://github.com/thewh1teagle/kokoro-onnx',
        [KOKORO_MODEL],
      ),
      RUNTIME,
      ...([...names, ...stored].some(needsEspeakNg) ? [ESPEAK_NG] : []),
    ];
  },
};

function kokoroVoice(name: string): ModelFile {
  const sha256 = kokoroSums.get(name);
  if (sha256 === undefined) throw unknownVoice('kokoro', name, [...kokoroSums.keys()]);
  const url = `${KOKORO_VOICES_SOURCE}/${name}.bin`;
  return { path: `kokoro/voices/${name}.bin`, bytes: KOKORO_VOICE_BYTES, url, sha256 };
}

const PIPER_SOURCE = 'https://huggingface.co/rhasspy/piper-voices';
const PIPER_REVISION = 'v1.0.0';
const JOE = 'en_US-joe-medium';

const PIPER: NaturalEngine = {
  name: 'piper',
  voice: JOE,
  async parts(voices, _stored, read) {
    const names = voices.length === 0 ? [JOE] : [...new Set(voices)];
    const parts: EnginePart[] = [];
    let catalogue: unknown;
    for (const name of names) {
      if (name !== JOE) catalogue ??= await readCatalogue(read);
      parts.push(name === JOE ? joePart() : await cataloguedPart(catalogue, name, read));
    }
    return [...parts, RUNTIME, ESPEAK_NG];
  },
};

async function readCatalogue(read: ReadFile): Promise<unknown> {
  const { href: url } = piperCatalogueUrl(PIPER_REVISION);
  return parseJson(Buffer.from(await read({ path: 'piper/voices.json', url })).toString('utf8'));
}

async function cataloguedPart(
  catalogue: unknown,
  name: string,
  read: ReadFile,
): Promise<EnginePart> {
  const voice = findPiperVoice(catalogue, name, PIPER_REVISION);
  const card = voice.files.find((file) => file.path.endsWith('.MODEL_CARD'));
  const text = card === undefined ? '' : Buffer.from(await read(card)).toString('utf8');
  const speakers = voice.speakers > 1 ? ` with ${voice.speakers} speakers` : '';
  return part(`voice ${voice.name}${speakers}`, licenseOf(text), voice.source, voice.files);
}

// Also names the voice that this voice was refined from, whose license may be stricter.
function licenseOf(card: string): string {
  const [, license = 'see the model card'] = /^\W*license:\s*(\S.*)$/im.exec(card) ?? [];
  const [, page] = /^\W*url:\s*(\S+)/im.exec(card) ?? [];
  const [origin] = /^.*\bfine-?\s?tuned from\b.*$/im.exec(card) ?? [];
  return [license.trim(), page, origin?.trim()].filter((one) => one !== undefined).join(', ');
}

function joePart(): EnginePart {
  return part(
    `voice ${JOE}`,
    'CC0-1.0 (recordings), refined from the voice lessac, whose recordings restrict commercial use',
    `${PIPER_SOURCE}/tree/${PIPER_REVISION}/en/en_US/joe/medium`,
    JOE_FILES,
  );
}

const JOE_URL = `${PIPER_SOURCE}/resolve/${PIPER_REVISION}/en/en_US/joe/medium`;

const JOE_FILES: readonly ModelFile[] = [
  {
    path: `piper/${JOE}.onnx`,
    bytes: 63_201_294,
    url: `${JOE_URL}/${JOE}.onnx`,
    sha256: '58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06',
  },
  {
    path: `piper/${JOE}.onnx.json`,
    bytes: 4_794,
    url: `${JOE_URL}/${JOE}.onnx.json`,
    sha256: '3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33',
  },
  {
    path: `piper/${JOE}.MODEL_CARD`,
    bytes: 280,
    url: `${JOE_URL}/MODEL_CARD`,
    sha256: 'd38223ba9381592ee7aeee49da1b61047121db1ad1761973ce0b88ff3e14041b',
  },
];

/** The engines with natural voices, by engine name. */
export const NATURAL_ENGINES: Readonly<Record<NaturalEngineName, NaturalEngine>> = {
  hibari: HIBARI,
  kokoro: KOKORO,
  piper: PIPER,
};

function part(
  what: string,
  license: string,
  source: string,
  files: readonly ModelFile[],
): EnginePart {
  return { what, license, source, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), files };
}
