// Pictures of the workspace as addresses that `<img>` may load, where no script runs.
import { api } from './api/client';

/** The address of a PNG, JPEG, GIF or WebP file by its name; the server checks the content. */
export const rasterAddress = (workspace: string, path: string): string | null => (/\.(png|jpe?g|gif|webp)$/i.test(path) ? api.imageOfWorkspace(workspace, path) : null);

/** The address of an SVG drawing by its text. */
export const drawingAddress = (path: string, content: string | null): string | null =>
  content !== null && /\.svg$/i.test(path) ? `data:image/svg+xml;charset=utf-8,${encodeURIComponent(content)}` : null;
