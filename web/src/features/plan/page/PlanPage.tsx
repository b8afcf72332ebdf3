import { FileText } from 'lucide-react';
import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { Notice } from '@/components/Notice';
import { Skeleton } from '@/components/Skeleton';
import { useText } from '@/i18n';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { loadOlder } from '@/lib/chat/store';
import type { Revision } from '../model';
import { useRevisions } from '../usePlan';
import { ReviewedPlan } from './ReviewedPlan';
import './page.css';

export interface PlanPageParts {
  /** The question that waits. */
  dock: ReactNode;
  /** Shows one file. */
  FileView: ComponentType<{ path: string; line: number | null; back: () => void }>;
}

/** A chat's plan on a page of its own: read, commented on, edited, run. */
export function PlanPage(parts: PlanPageParts) {
  const t = useText('plan');
  const { workspaceId, chatId } = useChatIds();
  const { revisions, approved } = useRevisions();
  const hasFile = useChatView((view) => view.chat.config.plan_file !== null);
  const hasOlder = useChatView((view) => view.hasOlder);
  const oldest = useChatView((view) => view.messages[0]?.id);
  const [chosen, setChosen] = useState<string>();
  const [params] = useSearchParams();
  const newest = revisions.at(-1);
  const isSought = newest === undefined && hasFile && hasOlder;
  // A long run has pushed the plan out of what is loaded.
  useEffect(() => {
    if (isSought) void loadOlder(workspaceId, chatId).catch(() => undefined);
  }, [isSought, oldest, workspaceId, chatId]);
  if (isSought) return <Skeleton rows={8} />;
  if (newest === undefined) return <div className="flex h-full"><Notice icon={<FileText aria-hidden="true" />} title={t('empty')} hint={t('emptyHint')} /></div>;
  const shown = revisions.find((revision) => revision.messageId === chosen) ?? newest;
  const show = (revision: Revision) => setChosen(revision === newest ? undefined : revision.messageId);
  return <ReviewedPlan revisions={revisions} approved={approved} shown={shown} newest={newest} show={show} first={Number(params.get('step')) || null} parts={parts} />;
}
