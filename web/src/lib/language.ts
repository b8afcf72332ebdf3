// The language of a file, by its name: as the highlighter calls it.
const ENDINGS: Record<string, string> = {
  c: 'c', h: 'c', cc: 'cpp', cpp: 'cpp', cxx: 'cpp', hpp: 'cpp', cs: 'csharp', dockerfile: 'dockerfile', graphql: 'graphql', kt: 'kotlin', kts: 'kotlin', lua: 'lua', mk: 'makefile', php: 'php', proto: 'protobuf',
  rb: 'ruby', scala: 'scala', scss: 'scss', less: 'scss', swift: 'swift', vue: 'xml', sh: 'bash', bash: 'bash', zsh: 'bash', css: 'css', diff: 'diff', patch: 'diff', go: 'go', ini: 'ini', toml: 'toml', cfg: 'ini', conf: 'ini', lock: 'toml',
  java: 'java', js: 'javascript', mjs: 'javascript', cjs: 'javascript', jsx: 'jsx', json: 'json', md: 'markdown', markdown: 'markdown', plan: 'markdown', chat: 'markdown',
  py: 'python', rs: 'rust', sql: 'sql', ts: 'typescript', tsx: 'tsx', mts: 'typescript', html: 'xml', xml: 'xml', svg: 'xml', yaml: 'yaml', yml: 'yaml',
};
const NAMES: Record<string, string> = { Makefile: 'makefile', Dockerfile: 'dockerfile', '.gitignore': 'bash', '.editorconfig': 'ini', 'Cargo.lock': 'toml' };

/** Empty where none is known. */
export function languageOf(path: string): string {
  const name = path.split('/').at(-1) ?? '';
  const dot = name.lastIndexOf('.');
  return NAMES[name] ?? (dot < 0 ? '' : (ENDINGS[name.slice(dot + 1).toLowerCase()] ?? ''));
}
