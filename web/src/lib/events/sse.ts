// Reads a `text/event-stream` with fetch. `EventSource` hides heartbeats, which distinguish a dead connection from a quiet one.

interface Frame {
  id: string | null;
  /** `null` for a frame that only carries an id. */
  data: string | null;
}

/** Cuts text that arrives in pieces into frames; heartbeats give none. */
export class FrameReader {
  private rest = '';

  take(text: string): Frame[] {
    const blocks = (this.rest + text).split('\n\n');
    this.rest = blocks.pop() ?? '';
    return blocks.map(read).filter((frame) => frame.id !== null || frame.data !== null);
  }
}

function read(block: string): Frame {
  const frame: Frame = { id: null, data: null };
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    const value = line.slice(colon + 1).replace(/^ /, '');
    if (line.startsWith('id:')) frame.id = value;
    else if (line.startsWith('data:')) frame.data = frame.data === null ? value : `${frame.data}\n${value}`;
  }
  return frame;
}
