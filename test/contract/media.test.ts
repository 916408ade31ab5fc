import { MEDIA_BEHAVIOURS } from './all-behaviours.ts';
import { askEmbedded } from './embedded-service.ts';

askEmbedded(MEDIA_BEHAVIOURS);
