import { REALTIME_BEHAVIOURS } from './all-behaviours.ts';
import { askEmbedded } from './embedded-service.ts';

askEmbedded(REALTIME_BEHAVIOURS);
