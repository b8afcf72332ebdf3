import { useQuery } from '@tanstack/react-query';
import { ArrowLeft, FileQuestion, FileX2 } from 'lucide-react';
import { Suspense, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { CopyButton } from '@/components/CopyButton';
import { Empty } from '@/components/Empty';
import { Failed } from '@/components/Failed';
import { IconButton } from '@/components/IconButton';
import { Coloured } from '@/components/markdown/CodeBlock';
import { Skeleton } from '@/components/Skeleton';
import { useLocale, useText } from '@/i18n';
import { api, ApiError } from '@/lib/api/client';
import type { FileContent } from '@/lib/api/types';
import { useChatIds } from '@/lib/chat/context';
import { useEffects } from '@/lib/chat/effects';
import { drawingAddress, rasterAddress } from '@/lib/image';
import { languageOf } from '@/lib/language';
import { bytes } from '@/lib/number';
import { shownName } from '@/lib/marks';

/** Beyond this, colour costs more than it helps. */
const MOST_COLOURED = 200_000;
const LINE = 20;

/** One file, with colours and line numbers; `line` is marked and scrolled to. */
export function FileViewer({ path, line, back }: { path: string; line: number | null; back: () => void }) {
  const t = useText('files');
  const locale = useLocale((state) => state.locale);
  const { workspaceId } = useChatIds();
  const effects = useEffects();
  const file = useQuery({
    queryKey: ['content', workspaceId, path, effects],
    queryFn: () => api.fileContent(workspaceId, path),
    placeholderData: (previous, query) => (query?.queryKey[2] === path ? previous : undefined),
  });
  return (
    <section aria-label={t('file', { path: shownName(path) })} className="flex h-full min-h-0 flex-col">
      <div className="flex min-h-11 shrink-0 items-center gap-1 border-b pr-2 pl-1">
        <IconButton label={t('back')} onClick={back}><ArrowLeft size={16} aria-hidden /></IconButton>
        <h2 className="min-w-0 flex-1 truncate font-mono text-sm" title={shownName(path)}>{shownName(path)}</h2>
        {file.data && <span className="shrink-0 text-xs text-muted">{bytes(locale, file.data.size)}</span>}
        {file.data?.content && <CopyButton text={file.data.content} label={t('copy')} />}
      </div>
      {file.error ? <Unshown error={file.error} retry={() => void file.refetch()} /> : !file.data ? <Skeleton rows={8} /> : <Content file={file.data} line={line} />}
    </section>
  );
}

/** Some files will never be shown, so no other try is offered. */
function Unshown({ error, retry }: { error: Error; retry: () => void }) {
  const t = useText('files');
  const code = error instanceof ApiError ? error.code : null;
  if (code !== 'TOO_LARGE' && code !== 'VALIDATION_FAILED') return <Failed error={error} retry={retry} />;
  const [title, hint] = code === 'TOO_LARGE' ? [t('tooLarge'), t('tooLargeHint')] : [t('notShown'), t('notShownHint')];
  return <Empty icon={<FileX2 size={24} aria-hidden />} title={title} hint={hint} />;
}

function Content({ file, line }: { file: FileContent; line: number | null }) {
  const t = useText('files');
  const { workspaceId } = useChatIds();
  const { path, content } = file;
  const [failed, setFailed] = useState('');
  const picture = rasterAddress(workspaceId, path) ?? drawingAddress(path, content);
  if (picture && failed !== path) return <div tabIndex={0} role="region" aria-label={t('contentOf', { path: shownName(path) })} className="min-h-0 flex-1 overflow-auto p-4"><img src={picture} alt={shownName(path)} onError={() => setFailed(path)} className="max-w-full rounded-md border border-line bg-bg" /></div>;
  if (content === null) return <Empty icon={<FileQuestion size={24} aria-hidden />} title={t('noText')} hint={t('noTextHint')} />;
  if (content === '') return <p className="p-4 text-muted">{t('nothingInIt')}</p>;
  return <Code path={path} content={content} line={line} />;
}

function Code({ path, content, line }: { path: string; content: string; line: number | null }) {
  const t = useText('files');
  const frame = useRef<HTMLDivElement>(null);
  const lines = content.split('\n').length - (content.endsWith('\n') ? 1 : 0);
  const numbers = useMemo(() => Array.from({ length: lines }, (_, index) => index + 1).join('\n'), [lines]);
  const language = languageOf(path);
  useLayoutEffect(() => {
    const node = frame.current;
    if (node && line !== null) node.scrollTop = Math.max(0, (line - 1) * LINE - node.clientHeight / 3);
  }, [line, path]);
  return (
    <div ref={frame} tabIndex={0} role="region" aria-label={t('contentOf', { path: shownName(path) })} className="relative min-h-0 flex-1 overflow-auto bg-bg">
      <div className="relative flex w-max min-w-full">
        {line !== null && <div aria-hidden data-line={line} className="absolute inset-x-0 bg-line" style={{ top: (line - 1) * LINE + 8, height: LINE }} />}
        <pre aria-hidden className="sticky left-0 z-10 shrink-0 bg-surface px-2 py-2 text-right leading-5 text-muted select-none">{numbers}</pre>
        <pre className="relative px-3 py-2 leading-5">
          <code>{language !== '' && content.length < MOST_COLOURED ? <Suspense fallback={content}><Coloured code={content} language={language} /></Suspense> : content}</code>
        </pre>
      </div>
    </div>
  );
}
