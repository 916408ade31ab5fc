import { Type } from 'typebox';
import type { Static } from 'typebox';
import { SpeechRequest } from './speech.ts';

/** What old clients still send; anything is taken there. */
export const HistoricalFields = {
  engineModelId: Type.Optional(
    Type.Unknown({ description: 'Old name of modelId; used when it names a model' }),
  ),
  version: Type.Optional(Type.Unknown({ description: 'Not used' })),
  qwenModel: Type.Optional(Type.Unknown({ description: 'Not used' })),
  minimaxEmotion: Type.Optional(Type.Unknown({ description: 'Old name of emotion' })),
  token: Type.Optional(
    Type.Unknown({ description: 'Not used: only the Authorization header authenticates' }),
  ),
};

/** Body of the v2 speech request (docs/api/speech.md#v2). What it does not know it does not refuse. */
export const SpeechRequestV2 = Type.Object(
  { ...SpeechRequest.properties, ...HistoricalFields },
  { $id: 'SpeechRequestV2' },
);
export type SpeechRequestV2 = Static<typeof SpeechRequestV2>;
