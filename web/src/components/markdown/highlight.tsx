// Colours for code. The highlighter is a file of its own, and so is each language, loaded when it first occurs.
import { createLowlight, type LanguageFn } from 'lowlight';
import { Fragment, type ReactNode } from 'react';
import './highlight.css';

type Module = Promise<{ default: LanguageFn }>;
const LANGUAGES: Record<string, () => Module> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  css: () => import('highlight.js/lib/languages/css'),
  diff: () => import('highlight.js/lib/languages/diff'),
  dockerfile: () => import('highlight.js/lib/languages/dockerfile'),
  go: () => import('highlight.js/lib/languages/go'),
  graphql: () => import('highlight.js/lib/languages/graphql'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  kotlin: () => import('highlight.js/lib/languages/kotlin'),
  lua: () => import('highlight.js/lib/languages/lua'),
  makefile: () => import('highlight.js/lib/languages/makefile'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  php: () => import('highlight.js/lib/languages/php'),
  protobuf: () => import('highlight.js/lib/languages/protobuf'),
  python: () => import('highlight.js/lib/languages/python'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  rust: () => import('highlight.js/lib/languages/rust'),
  scala: () => import('highlight.js/lib/languages/scala'),
  scss: () => import('highlight.js/lib/languages/scss'),
  sql: () => import('highlight.js/lib/languages/sql'),
  swift: () => import('highlight.js/lib/languages/swift'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
};
const ALIASES: Record<string, string> = {
  sh: 'bash', shell: 'bash', console: 'bash', zsh: 'bash', h: 'c', 'c++': 'cpp', cc: 'cpp', hpp: 'cpp', cs: 'csharp', 'c#': 'csharp', patch: 'diff', docker: 'dockerfile', golang: 'go', gql: 'graphql',
  toml: 'ini', cfg: 'ini', js: 'javascript', jsx: 'javascript', mjs: 'javascript', jsonc: 'json', kt: 'kotlin', make: 'makefile', md: 'markdown', proto: 'protobuf', py: 'python', rb: 'ruby', rs: 'rust',
  less: 'scss', ts: 'typescript', tsx: 'typescript', html: 'xml', svg: 'xml', vue: 'xml', yml: 'yaml',
};
const nameOf = (language: string) => ALIASES[language.toLowerCase()] ?? language.toLowerCase();

const lowlight = createLowlight();
const loading = new Map<string, Promise<Highlight | null>>();

/** A node of coloured code. */
interface Node {
  type: string;
  value?: string;
  properties?: { className?: unknown };
  children?: Node[];
}

export interface Highlight {
  tree: (code: string) => Node[];
  draw: (code: string) => ReactNode;
}

/** Null for a language that we don't know. The promise is the same one each time, as `use` wants it. */
export function highlightOf(language: string): Promise<Highlight | null> {
  const name = nameOf(language);
  const known = loading.get(name);
  if (known) return known;
  const promise = load(name);
  loading.set(name, promise);
  promise.catch(() => loading.delete(name));
  return promise;
}

async function load(name: string): Promise<Highlight | null> {
  if (!Object.hasOwn(LANGUAGES, name)) return null;
  const module = await LANGUAGES[name]?.();
  if (!module) return null;
  lowlight.register(name, module.default);
  const tree = (code: string) => (lowlight.highlight(name, code) as Node).children ?? [];
  return { tree, draw: (code) => draw(tree(code)) };
}

function draw(nodes: Node[]): ReactNode {
  return nodes.map((node, index) => {
    if (node.type === 'text') return <Fragment key={index}>{node.value}</Fragment>;
    const names = node.properties?.className;
    return <span key={index} className={Array.isArray(names) ? names.join(' ') : undefined}>{draw(node.children ?? [])}</span>;
  });
}
