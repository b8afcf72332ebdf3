import { Fragment, type ReactNode } from 'react';
import type { MarkedToken, Token } from 'marked';
import { decodeEntities } from './entities';

/** The words of a block. */
export function Inline({ tokens }: { tokens: Token[] | undefined }) {
  return tokens?.map((token, index) => <Fragment key={index}>{piece(token as MarkedToken)}</Fragment>);
}

const SAFE = new Set(['http:', 'https:', 'mailto:']);

/** Where a link may lead: out of here, by a protocol that runs nothing. */
export function safeAddress(href: string): string | null {
  try {
    return SAFE.has(new URL(href).protocol) ? href : null;
  } catch {
    return null;
  }
}

function piece(token: MarkedToken): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong><Inline tokens={token.tokens} /></strong>;
    case 'em':
      return <em><Inline tokens={token.tokens} /></em>;
    case 'del':
      return <del><Inline tokens={token.tokens} /></del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <Anchor href={token.href} title={token.title}><Inline tokens={token.tokens} /></Anchor>;
    case 'image':
      // Pictures from elsewhere would tell others that this chat was read.
      return <Anchor href={token.href} title={token.title}>{decodeEntities(token.text) || token.href}</Anchor>;
    case 'text':
      return token.tokens ? <Inline tokens={token.tokens} /> : decodeEntities(token.text);
    case 'escape':
      return token.text;
    case 'checkbox':
      return <input type="checkbox" checked={token.checked} disabled aria-label={token.checked ? '☑' : '☐'} />;
    default:
      // HTML is shown as it was written.
      return token.raw;
  }
}

function Anchor({ href, title, children }: { href: string; title?: string | null | undefined; children: ReactNode }) {
  const address = safeAddress(href);
  if (address === null) return <span title={href}>{children}</span>;
  return <a href={address} title={title ?? undefined} target="_blank" rel="noopener noreferrer">{children}</a>;
}
