import { useQueryClient } from '@tanstack/react-query';
import { Fragment, useContext, type MouseEvent, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { Workspace } from '@/lib/api/types';
import { ChatContext } from '@/lib/chat/context';
import { openFile } from '@/lib/layout';
import { inWorkspace, type Place } from '@/lib/paths';

/** A path that opens its file at its line beside the chat. Outside of a chat it is only its words. */
export function FileLink({ place, children, className = '' }: { place: Place; children: ReactNode; className?: string }) {
  const chat = useContext(ChatContext);
  if (chat === null) return children;
  return <Anchor {...chat} place={place} className={className}>{children}</Anchor>;
}

interface Props {
  workspaceId: string;
  chatId: string;
  place: Place;
  children: ReactNode;
  className: string;
}

function Anchor({ workspaceId, chatId, place, children, className }: Props) {
  const queries = useQueryClient();
  const [location, navigate] = useLocation();
  const root = queries.getQueryData<Workspace[]>(['workspaces'])?.find(({ id }) => id === workspaceId)?.path;
  const path = inWorkspace(place.path, root);
  const page = `/w/${workspaceId}/c/${chatId}`;
  const address = `${page}?${new URLSearchParams({ file: path, ...(place.line !== null && { line: String(place.line) }) })}`;
  const onClick = (event: MouseEvent) => {
    // A new tab is the browser's business.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (location !== page) navigate(page);
    openFile(workspaceId, path, place.line);
  };
  return <a href={address} onClick={onClick} className={`underline decoration-control underline-offset-3 hover:decoration-fg pointer-coarse:inline-block pointer-coarse:min-h-8 ${className}`}>{typeof children === 'string' ? breakable(children) : children}</a>;
}

/** A path that is too long for its line breaks after a slash. */
export const breakable = (path: string): ReactNode => path.split(/(?<=\/)/).map((part, index) => <Fragment key={index}>{part}<wbr /></Fragment>);
