/** What comes of an event: the state after it, and what is to be done. */
export interface Step<State, Effect> {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** A part of a transition. */
export type Move<State, Effect> = (state: State) => Step<State, Effect>;

/** What the transitions of a machine are made of. */
export interface Moves<State, Effect> {
  /** One move after the other; after the end there is none. */
  readonly run: (state: State, ...moves: readonly Move<State, Effect>[]) => Step<State, Effect>;
  /** Several moves as one. */
  readonly inTurn: (...moves: readonly Move<State, Effect>[]) => Move<State, Effect>;
  readonly change: (part: Partial<State>) => Move<State, Effect>;
  readonly emit: (...effects: readonly Effect[]) => Move<State, Effect>;
}

/** The moves of a pure machine: its transitions take a state and an event, and do nothing themselves. */
export function movesOf<State extends { readonly phase: string }, Effect>(): Moves<State, Effect> {
  const run: Moves<State, Effect>['run'] = (state, ...moves) => {
    let now = state;
    const effects: Effect[] = [];
    for (const move of moves) {
      if (now.phase === 'ended') break;
      const next = move(now);
      now = next.state;
      effects.push(...next.effects);
    }
    return { state: now, effects };
  };
  return {
    run,
    inTurn:
      (...moves) =>
      (state) =>
        run(state, ...moves),
    change: (part) => (state) => ({ state: { ...state, ...part }, effects: [] }),
    emit:
      (...effects) =>
      (state) => ({ state, effects }),
  };
}
