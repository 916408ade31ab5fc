import { SPEECH_BEHAVIOURS } from './all-behaviours.ts';
import { askEmbedded } from './embedded-service.ts';

askEmbedded(SPEECH_BEHAVIOURS);
