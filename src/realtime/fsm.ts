/** The result of a transition: the next state, and the effects that the caller must perform. */
export interface Step<State, Effect> {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** A function that handles a part of a transition. It returns the next step, or more reducers to apply in order. */
export type Reducer<State, Effect> = (
  state: State,
) => Step<State, Effect> | readonly Reducer<State, Effect>[];

/** Creates pure functions to build a state machine from reducers. No reducer runs after the phase becomes `ended`. */
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
