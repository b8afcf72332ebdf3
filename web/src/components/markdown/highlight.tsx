// Colours for code, in a chunk of its own.
import { createLowlight } from 'lowlight';
import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { Fragment, type ReactNode } from 'react';

const lowlight = createLowlight({ bash, css, diff, go, ini, java, javascript, json, markdown, python, rust, sql, typescript, xml, yaml });
lowlight.registerAlias({ bash: ['sh', 'shell', 'console', 'zsh'], ini: ['toml'], typescript: ['tsx'], javascript: ['jsx'] });

/** A node of coloured code. */
export interface Node {
  type: string;
  value?: string;
  properties?: { className?: unknown };
  children?: Node[];
}

/** Code as coloured elements; as it is in a language we don't know. */
export function highlight(language: string, code: string): ReactNode {
  return lowlight.registered(language) ? draw(syntax(language, code)) : code;
}

export const isKnown = (language: string) => lowlight.registered(language);

/** The same as a tree. The language must be known. */
export function syntax(language: string, code: string): Node[] {
  return (lowlight.highlight(language, code) as Node).children ?? [];
}

function draw(nodes: Node[]): ReactNode {
  return nodes.map((node, index) => {
    if (node.type === 'text') return <Fragment key={index}>{node.value}</Fragment>;
    const names = node.properties?.className;
    return <span key={index} className={Array.isArray(names) ? names.join(' ') : undefined}>{draw(node.children ?? [])}</span>;
  });
}
