import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, MessageSquareText } from 'lucide-react';
import { useCallback, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
import { Button } from '@/components/Button';
import { Notice } from '@/components/Notice';
import { useText } from '@/i18n';
import { useChatIds, useChatView } from '@/lib/chat/context';
import { loadOlder } from '@/lib/chat/store';
import { useFollow } from '@/lib/chat/follow';
import { MAIN_PLACE } from '@/lib/focus';
import { toastError } from '@/lib/toast';
import { ItemView } from './ItemView';
import { isLine, useItems } from './items';
import { useEndKey } from './useEndKey';
import { useSeek } from './useSeek';

/** Closer to the end than this, the end is followed. */
const FOLLOW = 48;
/** Closer to the top than this, older messages are fetched. */
const FETCH = 600;

export function Timeline() {
  const t = useText('chat');
  const { workspaceId, chatId } = useChatIds();
  const items = useItems();
  const hasOlder = useChatView((view) => view.hasOlder);
  const frame = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  const isFetching = useRef(false);
  /** The last row when the reader went up by more than a screen. */
  const [leftAt, setLeftAt] = useState<string | null>(null);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 56,
    getItemKey: useCallback((index: number) => items[index]?.key ?? index, [items]),
    overscan: 6,
    paddingStart: 24,
    paddingEnd: 24,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: FOLLOW,
  });

  /** How far the end is; more than a screen shows the way back. */
  const look = () => {
    const node = frame.current;
    if (!node) return 0;
    const distance = node.scrollHeight - node.clientHeight - node.scrollTop;
    setLeftAt((key) => (distance <= node.clientHeight ? null : (key ?? items.at(-1)?.key ?? null)));
    return distance;
  };
  // Scrolls to new entries, unless the reader has scrolled up.
  const height = virtualizer.getTotalSize();
  const onGrowth = useEffectEvent(() => {
    // As far as it goes. The virtualizer's own way to the end looks at the layout in every frame.
    if (isFollowing.current && frame.current) frame.current.scrollTop = height;
    else look();
  });
  useLayoutEffect(() => onGrowth(), [height]);
  const asked = useFollow((state) => state.asked[chatId] ?? 0);
  const onAsked = useEffectEvent(() => toEnd());
  useLayoutEffect(() => {
    if (asked > 0) onAsked();
  }, [asked]);
  // What grows below the timeline takes its room: the last row must not go under it.
  const isEmpty = items.length === 0;
  useLayoutEffect(() => {
    if (isEmpty || !frame.current) return undefined;
    const observer = new ResizeObserver(() => isFollowing.current && virtualizer.scrollToEnd());
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, [isEmpty, virtualizer]);

  const marked = useSeek(items, virtualizer, isFollowing);

  const onScroll = () => {
    const node = frame.current;
    if (!node) return;
    isFollowing.current = look() <= FOLLOW;
    if (node.scrollTop > FETCH || !hasOlder || isFetching.current) return;
    isFetching.current = true;
    void loadOlder(workspaceId, chatId).catch(toastError).finally(() => { isFetching.current = false; });
  };
  const toEnd = () => {
    isFollowing.current = true;
    virtualizer.scrollToEnd();
  };
  useEndKey(toEnd);
  const unseen = leftAt === null ? 0 : items.length - 1 - items.findLastIndex((item) => item.key === leftAt);
  if (isEmpty) return <Notice icon={<MessageSquareText size={24} aria-hidden />} title={t('emptyTitle')} hint={t('emptyHint')} />;
  return (
    <div className="relative min-h-0 flex-1">
      <div ref={frame} onScroll={onScroll} {...{ [MAIN_PLACE]: '' }} role="log" aria-live="off" aria-label={t('history')} tabIndex={0} className="h-full overflow-y-auto overscroll-contain [overflow-anchor:none] pointer-coarse:outline-none">
        <div className="relative mx-auto w-full max-w-178" style={{ height }}>
          {virtualizer.getVirtualItems().map((row) => {
            const item = items[row.index];
            return (
              <div key={row.key} data-index={row.index} ref={virtualizer.measureElement} data-marked={row.key === marked || undefined} className={`absolute inset-x-0 top-0 px-4 data-marked:rounded-md data-marked:ring-2 data-marked:ring-fg data-marked:ring-inset ${item && isLine(item) ? '' : 'py-2'}`} style={{ transform: `translateY(${row.start}px)` }}>
                {item && <ItemView item={item} />}
              </div>
            );
          })}
        </div>
      </div>
      {leftAt !== null && (
        <Button onClick={toEnd} className="absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full shadow-raised">
          <ArrowDown size={14} aria-hidden />
          {unseen > 0 ? t('newBelow', { count: unseen }) : t('jumpToLatest')}
        </Button>
      )}
    </div>
  );
}
