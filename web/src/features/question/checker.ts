import type { Check, Reply } from './checker.worker';
import type { Complaint } from './complaint';
import type { Json } from '@/lib/api/types';
import { resolved } from './schema';

/** A pattern that the model wrote can take for ever; after this time the answer goes to the server unchecked. */
const LONGEST_CHECK = 250;
/** A worker that has not begun by then is not going to. */
const LONGEST_START = 3000;

/** What of a worker the checker uses; tests put their own in its place. */
export interface CheckingWorker {
  onmessage: ((event: MessageEvent<Reply>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  postMessage: (check: Check) => void;
  terminate: () => void;
}

/** Checks answers against schemas without ever holding up the page. */
export class Checker {
  private worker: CheckingWorker | undefined;
  private checks = 0;
  /** One check at a time: the end of the one before. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly start: () => CheckingWorker) {}

  /** What is wrong with the value; nothing when it is right or could not be judged, which leaves it to the server. */
  async check(schema: Json, value: Json): Promise<Complaint[]> {
    const plain = resolved(schema);
    if (plain === undefined) return [];
    const checked = this.last.then(() => this.run(plain, value));
    this.last = checked;
    return checked;
  }

  private run(schema: Json, value: Json): Promise<Complaint[]> {
    this.worker ??= this.start();
    const worker = this.worker;
    this.checks += 1;
    const id = this.checks;
    return new Promise((resolve) => {
      const give = (complaints: Complaint[]) => {
        clearTimeout(clock);
        resolve(complaints);
      };
      const giveUp = () => {
        worker.terminate();
        if (this.worker === worker) this.worker = undefined;
        give([]);
      };
      let clock = setTimeout(giveUp, LONGEST_START);
      worker.onerror = giveUp;
      worker.onmessage = ({ data }) => {
        if (data.id !== id) return;
        if ('complaints' in data) return give(data.complaints);
        clearTimeout(clock);
        clock = setTimeout(giveUp, LONGEST_CHECK);
      };
      worker.postMessage({ id, schema, value });
    });
  }

  close(): void {
    this.worker?.terminate();
    this.worker = undefined;
  }
}
