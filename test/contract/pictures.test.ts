import { PICTURE_BEHAVIOURS } from './all-behaviours.ts';
import { askEmbedded } from './embedded-service.ts';

askEmbedded(PICTURE_BEHAVIOURS);
