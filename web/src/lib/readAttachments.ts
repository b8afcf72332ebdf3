// Reads files as attachments, recognised by their content. Loaded at the first attachment.
import { attachmentsOf, putAttachments, type Attachment } from './attachments';

/** Why a file was refused. */
type Refusal = 'tooMany' | 'imageTooLarge' | 'fileTooLarge' | 'notText';

const MOST = 8;
const LARGEST_IMAGE = 5 << 20;
const LARGEST_TEXT = 256 << 10;

/** Adds files to a draft. Returns the refused ones, with the reason. */
export async function attach(draft: string, files: Iterable<File>): Promise<{ name: string; why: Refusal }[]> {
  const refused: { name: string; why: Refusal }[] = [];
  for (const file of files) {
    const found = await read(file);
    const why = attachmentsOf(draft).length >= MOST ? 'tooMany' : typeof found === 'string' ? found : null;
    if (why !== null) refused.push({ name: file.name, why });
    else if (typeof found !== 'string') putAttachments(draft, (list) => [...list, found]);
  }
  return refused;
}

async function read(file: File): Promise<Attachment | Refusal> {
  const common = { key: crypto.randomUUID(), name: file.name, size: file.size };
  const type = imageType(new Uint8Array(await file.slice(0, 12).arrayBuffer()));
  if (type !== null) {
    if (file.size > LARGEST_IMAGE) return 'imageTooLarge';
    const blob = new Blob([file], { type });
    return { ...common, image: { blob, address: await addressOf(blob) } };
  }
  if (file.size > LARGEST_TEXT) return 'fileTooLarge';
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
    return text.includes('\0') ? 'notText' : { ...common, text };
  } catch {
    return 'notText';
  }
}

/** By the first bytes, as on the server. */
function imageType(bytes: Uint8Array): string | null {
  const begins = (...wanted: number[]) => wanted.every((byte, place) => bytes[place] === byte);
  const text = String.fromCharCode(...bytes);
  if (begins(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png';
  if (begins(0xff, 0xd8, 0xff)) return 'image/jpeg';
  if (/^GIF8[79]a/.test(text)) return 'image/gif';
  return /^RIFF[\s\S]{4}WEBP/.test(text) ? 'image/webp' : null;
}

/** The content security policy allows only `data:` URLs for bytes. */
export const addressOf = (blob: Blob) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('unreadable'));
    reader.readAsDataURL(blob);
  });
