import { Fragment, useContext, type ReactNode } from 'react';
import type { MarkedToken, Token } from 'marked';
import { FileLink } from '@/components/FileLink';
import { Linked } from '@/components/Linked';
import { ChatContext } from '@/lib/chat/context';
import { isImage, placeOf, placeOfLink } from '@/lib/paths';
import { decodeEntities } from './entities';
import { WorkspaceImage } from './WorkspaceImage';

/** The words of a block. `isPlain`: inside of a link, where there can be no other. */
export function Inline({ tokens, isPlain = false }: { tokens: Token[] | undefined; isPlain?: boolean }) {
  return tokens?.map((token, index) => <Fragment key={index}>{piece(token as MarkedToken, isPlain)}</Fragment>);
}

const SAFE = new Set(['http:', 'https:', 'mailto:']);

/** Where a link may lead: out of here, by a protocol that runs nothing. */
function safeAddress(href: string): string | null {
  try {
    return SAFE.has(new URL(href).protocol) ? href : null;
  } catch {
    return null;
  }
}

function piece(token: MarkedToken, isPlain: boolean): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong><Inline tokens={token.tokens} isPlain={isPlain} /></strong>;
    case 'em':
      return <em><Inline tokens={token.tokens} isPlain={isPlain} /></em>;
    case 'del':
      return <del><Inline tokens={token.tokens} isPlain={isPlain} /></del>;
    case 'codespan':
      return isPlain ? <code>{token.text}</code> : <Code text={token.text} />;
    case 'br':
      return <br />;
    case 'link':
      return <Anchor href={token.href} title={token.title}><Inline tokens={token.tokens} isPlain /></Anchor>;
    case 'image':
      // Pictures from elsewhere would tell others that this chat was read.
      return <Picture href={token.href} title={token.title} alt={decodeEntities(token.text)} isPlain={isPlain} />;
    case 'text':
      if (token.tokens) return <Inline tokens={token.tokens} isPlain={isPlain} />;
      return isPlain ? decodeEntities(token.text) : <Linked text={decodeEntities(token.text)} />;
    case 'escape':
      return token.text;
    case 'checkbox':
      return <input type="checkbox" checked={token.checked} disabled aria-label={token.checked ? '☑' : '☐'} />;
    default:
      // HTML is shown as it was written.
      return token.raw;
  }
}

/** Code that is a path opens its file. */
function Code({ text }: { text: string }) {
  const place = placeOf(text);
  return place ? <FileLink place={place}><code>{text}</code></FileLink> : <code>{text}</code>;
}

function Picture({ href, title, alt, isPlain }: { href: string; title?: string | null | undefined; alt: string; isPlain: boolean }) {
  const place = isPlain ? null : placeOfLink(href);
  const isInChat = useContext(ChatContext) !== null;
  if (isInChat && place && isImage(place.path)) return <WorkspaceImage path={place.path} alt={alt} />;
  return isPlain ? alt || href : <Anchor href={href} title={title}>{alt || href}</Anchor>;
}

function Anchor({ href, title, children }: { href: string; title?: string | null | undefined; children: ReactNode }) {
  const address = safeAddress(href);
  const place = address === null ? placeOfLink(href) : null;
  if (place) return <FileLink place={place}>{children}</FileLink>;
  if (address === null) return <span title={href}>{children}</span>;
  return <a href={address} title={title ?? undefined} target="_blank" rel="noopener noreferrer">{children}</a>;
}
