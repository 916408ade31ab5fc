/** The result of a transition: the next state, and the effects that the caller must perform. */
export interface Step<State, Effect> {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/**
 * A function that computes one part of a state transition. Returns either the next state with its effects, or a list of
 * reducers that run in order.
 */
export type Reducer<State, Effect> = (
  state: State,
) => Step<State, Effect> | readonly Reducer<State, Effect>[];

/**
 * Creates the functions `run`, `patch` and `emit`, with which a state machine is built from reducers. After the phase
 * becomes `ended`, `run` calls no more reducers.
 */
export function fsm<State extends { readonly phase: string }, Effect>() {
  const run = (state: State, reducers: readonly Reducer<State, Effect>[]): Step<State, Effect> => {
    let current = state;
    const effects: Effect[] = [];
    for (const reducer of reducers) {
      if (current.phase === 'ended') break;
      const result = reducer(current);
      const next = 'effects' in result ? result : run(current, result);
      current = next.state;
      effects.push(...next.effects);
    }
    return { state: current, effects };
  };
  return {
    run,
    patch:
      (part: Partial<State>): Reducer<State, Effect> =>
      (state) => ({ state: { ...state, ...part }, effects: [] }),
    emit:
      (...effects: readonly Effect[]): Reducer<State, Effect> =>
      (state) => ({ state, effects }),
  };
}
