import { errorEnding, lost } from './endings.ts';
import type { RequestFacts, SegmentFacts } from './server-message.ts';
import { miss } from './settle.ts';
import type { LiveState, Segment } from './state.ts';
import type { Move } from './step.ts';
import { change, changeSegment, end, inTurn, run } from './step.ts';

/** Takes over what the service has stored; what it has not is spoken again. */
export function adopt({ segments: manifest }: RequestFacts): Move {
  return (state) => run(state, change({ manifest }), recognize(state.segments.map(({ id }) => id)));
}

/**
 * Compares segments with what the service has of the request: what is stored is fetched, but for what was
 * heard to its end. All that is told of a text is its length.
 */
export function recognize(ids: readonly string[]): Move {
  return (state) => {
    const known = state.segments.flatMap((segment) => {
      const facts = ids.includes(segment.id) ? storedOf(state, segment.id) : undefined;
      return facts === undefined ? [] : [{ facts, segment }];
    });
    if (known.some(isOther)) {
      const message = 'the request was made before with another text';
      return run(state, end(errorEnding(state, 'idempotency_conflict', message)));
    }
    const missing = known.filter((one) => !isHeard(one)).map(({ segment }) => segment.id);
    const over = known
      .filter(isHeard)
      .map(({ facts: { audioBytes }, segment }) =>
        changeSegment(segment.id, { completed: { audioBytes } }),
      );
    return run(state, inTurn(...over), miss(missing));
  };
}

/**
 * All of the request was spoken and paid for: what was asked for and is not stored is lost, and so is
 * everything when nothing is stored of a request that this conversation only asked after.
 */
export const missWhatIsGone: Move = (state) => {
  const gone = state.segments.filter(
    (one) => one.state !== 'waiting' && one.completed === undefined && !one.isStored,
  );
  if (gone.length > 0) return run(state, end(lost(gone.map(({ id }) => id))));
  const hasNothing = !state.hasAsked && !state.manifest.some(({ isStored }) => isStored);
  return run(state, ...(hasNothing ? [end(lost())] : []));
};

interface Known {
  readonly facts: SegmentFacts;
  readonly segment: Segment;
}

function storedOf({ manifest }: LiveState, id: string): SegmentFacts | undefined {
  return manifest.find(({ isStored, segmentId }) => isStored && segmentId === id);
}

function isOther({ facts: { characters }, segment }: Known): boolean {
  return characters !== undefined && characters !== segment.characters;
}

function isHeard({ facts: { audioBytes }, segment }: Known): boolean {
  return audioBytes !== undefined && segment.heardBytes >= audioBytes;
}
