import type { Fault, Tamper } from './script.ts';
import type { Message } from './wire-names.ts';

/** A boundary between two messages of a connection. */
export interface Boundary {
  readonly on: Fault['on'];
  readonly when: Fault['when'];
  /** The events of this direction up to the boundary. */
  readonly events: readonly string[];
}

/** Returns the fault of a boundary, if the script has one. */
export function faultAt(faults: readonly Fault[], place: Boundary): Fault | undefined {
  return faults.find(({ on, when, event, number }) => {
    const counted = place.events.filter((name) => event === undefined || name === event);
    const isMeant = event === undefined || place.events.at(-1) === event;
    return on === place.on && when === place.when && isMeant && counted.length === number;
  });
}

/** Returns a reply with its audio repeated, omitted or reordered. */
export function tampered(messages: readonly Message[], tamper: readonly Tamper[]): Message[] {
  const result = [...messages];
  for (const { kind, sequence } of tamper) {
    const at = result.findIndex(
      (message) => message.event === 'audio' && message['sequence'] === sequence,
    );
    const frame = result[at];
    const next = result[at + 1];
    if (frame === undefined) {
      continue;
    }
    if (kind === 'skip') {
      result.splice(at, 1);
    } else if (kind === 'duplicate') {
      result.splice(at, 0, frame);
    } else if (next?.event === 'audio') {
      result.splice(at, 2, next, frame);
    }
  }
  return result;
}
