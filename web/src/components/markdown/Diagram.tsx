// Diagrams of Mermaid's language, in a chunk that a click loads. The picture is an `<img>`: no script, no style and no address
// in it reaches the page, which the content security policy would not allow Mermaid's own renderer.
import { renderMermaid } from 'beautiful-mermaid';
import { use, Suspense, useMemo } from 'react';
import { Skeleton } from '@/components/Skeleton';
import { useText } from '@/i18n';
import { useMedia } from '@/lib/layout';
import { useTheme } from '@/lib/theme';
import { readable, Undrawable } from './flowchart';

/** A longer text would keep the page busy for seconds. */
const MOST = 20_000;

export function Diagram({ code }: { code: string }) {
  const { theme } = useTheme();
  const isSystemDark = useMedia('(prefers-color-scheme: dark)');
  // Drawn again in the colours of another theme.
  return <Drawn key={`${theme} ${isSystemDark}`} code={code} />;
}

function Drawn({ code }: { code: string }) {
  const picture = useMemo(() => draw(code), [code]);
  return <Suspense fallback={<Skeleton rows={4} />}><Picture picture={picture} code={code} /></Suspense>;
}

function Picture({ picture, code }: { picture: Promise<Drawing>; code: string }) {
  const t = useText('chat');
  const { address, line } = use(picture);
  if (address === null) return <><p role="alert" className="px-3 py-2 text-sm break-words text-major">{line === null ? t('cantDraw') : t('cantDrawLine', { line })}</p><pre tabIndex={0}><code>{code}</code></pre></>;
  return <div tabIndex={0} role="group" aria-label={t('diagram')} className="max-h-[70dvh] overflow-auto p-3"><img src={address} alt={t('diagramAlt', { text: summary(code) })} className="mx-auto max-w-none" /></div>;
}

interface Drawing {
  /** Null where the text is no diagram that we can draw. */
  address: string | null;
  /** The statement that is the reason. */
  line: string | null;
}

async function draw(code: string): Promise<Drawing> {
  if (code.length > MOST) return { address: null, line: null };
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(name).trim();
  const colours = { bg: token('--surface'), fg: token('--fg'), muted: token('--fg2'), line: token('--fg3'), accent: token('--fg2'), border: token('--control'), surface: token('--bg') };
  try {
    const svg = await renderMermaid(readable(code), { ...colours, font: 'sans-serif' });
    // Fonts from elsewhere would not load; asking for them is a fault.
    return { address: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg.replace(/@import url\([^)]*\);?/g, ''))}`, line: null };
  } catch (reason) {
    return { address: null, line: reason instanceof Undrawable ? reason.message : null };
  }
}

const summary = (code: string) => code.replace(/\s+/g, ' ').trim().slice(0, 200);
