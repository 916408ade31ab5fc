/** Audio that arrived together, decoded into one piece of memory. */
export class AudioBlock {
  readonly memory: Buffer;
  /** Bytes of audio so far, from the beginning of the memory. */
  length = 0;

  constructor(memory: Buffer) {
    this.memory = memory;
  }

  /**
   * Adds what `base64` says. False, and nothing is added, when it is not base64 or there is no room: Node
   * skips what it does not know, so that there are fewer bytes than the length promises.
   */
  add(base64: string): boolean {
    const padding = base64.endsWith('==') ? 2 : Number(base64.endsWith('='));
    const digits = base64.length - padding;
    // One digit more than four times any number says nothing, so that it could be anything.
    if (digits % 4 === 1) return false;
    const promised = Math.floor((digits * 3) / 4);
    const written = this.memory.write(base64, this.length, promised, 'base64');
    if (written !== promised) return false;
    this.length += written;
    return true;
  }
}
