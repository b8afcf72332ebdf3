// Attachments that were not sent, in the browser's database, so that they outlive a reload of their tab. Loaded with the first attachment.
import type { Attachment } from './attachments';
import { addressOf } from './readAttachments';

const STORE = 'attachments';
/** Of all tabs together; the oldest go first. */
const MOST_DRAFTS = 12;
/** A tab that is gone never asks for its attachments again. */
const KEPT_FOR = 3 * 24 * 3_600_000;

type Kept = Omit<Attachment, 'image'> & { image?: Blob };
interface Row {
  name: string;
  at: number;
  list: Kept[];
}

/** Drafts belong to a tab, as their text does. */
function nameOf(draft: string): string {
  const tab = sessionStorage.getItem('planwright.tab') ?? crypto.randomUUID();
  sessionStorage.setItem('planwright.tab', tab);
  return `${tab}.${draft}`;
}

const settled = <T>(request: IDBRequest<T>) =>
  new Promise<T>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the database failed'));
  });

async function rows(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  const opening = indexedDB.open('planwright', 1);
  opening.onupgradeneeded = () => void opening.result.createObjectStore(STORE, { keyPath: 'name' });
  const base = await settled(opening);
  const transaction = base.transaction(STORE, mode);
  transaction.oncomplete = () => base.close();
  return transaction.objectStore(STORE);
}

let last: Promise<unknown> = Promise.resolve();

/** Stores the attachments of a draft as they are now; one change after the other. */
export function keep(draft: string, list: Attachment[]): Promise<void> {
  const next = last.then(() => write(nameOf(draft), list.map(({ image, ...rest }) => ({ ...rest, ...(image && { image: image.blob }) }))));
  last = next.catch(() => undefined);
  return next;
}

async function write(name: string, list: Kept[]): Promise<void> {
  const store = await rows('readwrite');
  if (list.length === 0) store.delete(name);
  else store.put({ name, at: Date.now(), list } satisfies Row);
  const all = ((await settled(store.getAll())) as Row[]).toSorted((a, b) => b.at - a.at);
  const old = all.filter((row, place) => place >= MOST_DRAFTS || row.at < Date.now() - KEPT_FOR);
  for (const row of old) store.delete(row.name);
}

export async function restore(draft: string): Promise<Attachment[]> {
  const row = (await settled((await rows('readonly')).get(nameOf(draft)))) as Row | undefined;
  return Promise.all((row?.list ?? []).map(async ({ image, ...rest }) => ({ ...rest, ...(image && { image: { blob: image, address: await addressOf(image) } }) })));
}
