/** What the service's end of a connection does once the client's end is gone. */
export type ServiceEnd =
  /** It learns of it at once. */
  | 'leaves'
  /** The sender does not notice, and sends everything. */
  | 'ends'
  /** The sender waits for the reader until the fault is released. */
  | 'waits';

/** What happens to one attempt on its way. `at` is a share of the audio, 0 to 1. */
export type Fault =
  | { readonly kind: 'none' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'request_lost' }
  /** The client gives up; the request arrives when it is released. */
  | { readonly kind: 'request_late' }
  | { readonly kind: 'request_twice'; readonly answer: 0 | 1 }
  /** The connection breaks while the service has nothing to send yet. */
  | { readonly kind: 'left_early' }
  | { readonly kind: 'answer_lost'; readonly service: ServiceEnd }
  | { readonly kind: 'cut'; readonly at: number; readonly service: ServiceEnd }
  /** The client waits in the middle of the audio until that is released. */
  | { readonly kind: 'pause'; readonly at: number }
  | { readonly kind: 'client_dies'; readonly at: number }
  | { readonly kind: 'service_dies_early'; readonly returns: boolean }
  | { readonly kind: 'service_dies'; readonly at: number; readonly returns: boolean }
  | { readonly kind: 'engine_fails'; readonly chunk: 0 | 1 }
  /** The service's n-th write finds its database held: 1 the beginning, 2 the commit, 3 the end. */
  | { readonly kind: 'locked'; readonly write: 1 | 2 | 3 };

/** What can happen to a download, which changes nothing on the service. */
export type AudioFault = Extract<
  Fault,
  { readonly kind: 'none' | 'refused' | 'cut' | 'pause' | 'client_dies' | 'service_dies' }
>;

export const NO_FAULT: Fault = { kind: 'none' };
