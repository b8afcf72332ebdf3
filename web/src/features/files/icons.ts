// A picture for each kind of file, by its name.
import { File, FileArchive, FileCode, FileCog, FileImage, FileTerminal, FileText, Folder, ListChecks, MessageSquareText, type LucideIcon } from 'lucide-react';
import type { FileNode } from '@/lib/api/types';

const KINDS: [LucideIcon, string][] = [
  [FileCode, 'rs ts tsx js jsx mjs cjs py go java kt swift c h cc cpp hpp cs rb php scala lua dart ex exs erl hs ml sql html css scss vue svelte'],
  [FileText, 'md mdx txt rst adoc org tex log'],
  [FileCog, 'json jsonc yaml yml toml ini cfg conf env lock xml properties csv tsv'],
  [FileTerminal, 'sh bash zsh fish ps1 bat cmd'],
  [FileImage, 'png jpg jpeg gif webp svg ico bmp avif pdf'],
  [FileArchive, 'zip gz tgz tar xz bz2 zst 7z jar wasm so dll exe bin'],
];
const BY_ENDING = new Map(KINDS.flatMap(([icon, endings]) => endings.split(' ').map((ending) => [ending, icon] as const)));

/** The icon, and its colour. */
export function iconOf({ file_type, name }: FileNode): [LucideIcon, string] {
  switch (file_type) {
    case 'folder': return [Folder, 'text-muted'];
    case 'plan': return [ListChecks, 'text-fg2'];
    case 'chat': return [MessageSquareText, 'text-fg2'];
    case 'document': return [BY_ENDING.get(name.split('.').at(-1)?.toLowerCase() ?? '') ?? File, 'text-muted'];
  }
}
