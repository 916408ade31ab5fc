import { SERVICE_BEHAVIOURS } from './all-behaviours.ts';
import { askEmbedded } from './embedded-service.ts';

askEmbedded(SERVICE_BEHAVIOURS);
