// Reading a `text/event-stream` over fetch. `EventSource` hides heartbeats and can't be told where to begin.

export interface Frame {
  id: string | null;
  event: string;
  data: string;
}

/** Cuts text that arrives in pieces into frames; heartbeats give none. */
export class FrameReader {
  private rest = '';

  take(text: string): Frame[] {
    const blocks = (this.rest + text).replaceAll('\r\n', '\n').split('\n\n');
    this.rest = blocks.pop() ?? '';
    return blocks.map(frame).filter((one) => one !== null);
  }
}

function frame(block: string): Frame | null {
  const lines = block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).replace(/^ /, '')] as const);
  const field = (name: string) => lines.filter(([key]) => key === name).map(([, value]) => value);
  const data = field('data');
  return data.length === 0 ? null : { id: field('id').at(-1) ?? null, event: field('event').at(-1) ?? 'message', data: data.join('\n') };
}
