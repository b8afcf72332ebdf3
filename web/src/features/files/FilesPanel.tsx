import { useChatIds } from '@/lib/chat/context';
import { openFile, useLayout } from '@/lib/layout';
import { FileTree } from './FileTree';
import { FileViewer } from './FileViewer';

/** The files of the workspace, and the one that is looked at. */
export function FilesPanel() {
  const { workspaceId } = useChatIds();
  const file = useLayout((state) => state.file);
  if (file?.workspace === workspaceId) return <FileViewer key={file.path} path={file.path} line={file.line} back={() => useLayout.setState({ file: null })} />;
  return <FileTree show={(path) => openFile(workspaceId, path)} />;
}
