import { useQuery } from '@tanstack/react-query';
import { useContext, useState } from 'react';
import { FileLink } from '@/components/FileLink';
import { api } from '@/lib/api/client';
import type { FileContent, Workspace } from '@/lib/api/types';
import { ChatContext } from '@/lib/chat/context';
import { useWorkspaces } from '@/lib/workspaces';
import { drawingAddress, rasterAddress } from '@/lib/image';
import { inWorkspace } from '@/lib/paths';

/** A picture of the workspace inside a text; a link to it where it can't be shown. */
export function WorkspaceImage({ path, alt }: { path: string; alt: string }) {
  const chat = useContext(ChatContext);
  const root = useWorkspaces().data?.find(({ id }: Workspace) => id === chat?.workspaceId)?.path;
  const file = inWorkspace(path, root);
  const [hasFailed, setFailed] = useState(false);
  const raster = chat && rasterAddress(chat.workspaceId, file);
  const content = useQuery({
    queryKey: ['picture', chat?.workspaceId, file],
    queryFn: (): Promise<FileContent> => api.fileContent(chat?.workspaceId ?? '', file),
    enabled: chat !== null && raster === null,
    retry: false,
  });
  const address = raster ?? drawingAddress(file, content.data?.content ?? null);
  const place = { path: file, line: null };
  if (!address || hasFailed) return <FileLink place={place}>{alt || path}</FileLink>;
  return <span className="my-1 block"><img src={address} alt={alt || file} loading="lazy" onError={() => setFailed(true)} className="max-h-96 max-w-full rounded-md border border-line bg-bg" /><span className="mt-1 block text-xs text-muted"><FileLink place={place}>{path}</FileLink></span></span>;
}
