// Text files inside a message: each in a frame that no text can end, as editors send them.

export interface AttachedFile {
  name: string;
  text: string;
}

/** The server's text for a message that has only an image. */
export const IMAGE_ALONE = '[image]';

const FRAME = /\n*<attached name="([^"\n]*)">\n([\s\S]*?)\n<\/attached>/g;

/** Text and files as one message. A message of files only begins with their names, so that the chat has a title. */
export function withFiles(words: string, files: AttachedFile[]): string {
  const first = words.trim() === '' ? files.map(({ name }) => name).join(', ') : words.trim();
  return [first, ...files.map(({ name, text }) => `<attached name="${nameOf(name)}">\n${text.replaceAll('</attached', '< /attached')}\n</attached>`)].join('\n\n');
}

// oxlint-disable-next-line no-control-regex -- control characters are the subject here
const nameOf = (name: string) => name.replace(/["\x00-\x1f\x7f]/g, '');

/** The text of a message, and its files. */
export function filesIn(content: string): { words: string; files: AttachedFile[] } {
  const files = [...content.matchAll(FRAME)].map(([, name = '', text = '']) => ({ name, text }));
  return { words: files.length > 0 ? content.replace(FRAME, '').trim() : content, files };
}
