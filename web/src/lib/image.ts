// Pictures of the workspace as addresses that the page may load: `data:` only, and drawn by `<img>`, where no script runs.
import type { FileContent } from './api/types';
import { isImage } from './paths';

/** The formats that are drawn from bytes. */
const RASTER = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Null where the file is no picture, or its bytes were not sent. */
export function imageAddress({ path, content, image }: FileContent): string | null {
  if (!isImage(path)) return null;
  if (image && RASTER.has(image.mime_type)) return `data:${image.mime_type};base64,${image.data}`;
  return content !== null && /\.svg$/i.test(path) ? `data:image/svg+xml;charset=utf-8,${encodeURIComponent(content)}` : null;
}
