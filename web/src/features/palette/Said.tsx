import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Bot, UserRound } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { useText } from '@/i18n';
import { settingsApi } from '@/lib/api/settings';
import { useProblemLine } from '@/lib/problems';
import { Entry, Group } from './Entries';
import { around } from './around';

/** What was said in any chat that has the words in it; the server looks. */
export function Said({ typed }: { typed: string }) {
  const t = useText('palette');
  const lineOf = useProblemLine();
  const [, navigate] = useLocation();
  const [sought, setSought] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setSought(typed), 200);
    return () => clearTimeout(timer);
  }, [typed]);
  const found = useQuery({ queryKey: ['search', sought], queryFn: () => settingsApi.searchAll(sought), enabled: sought.length > 1, placeholderData: keepPreviousData, staleTime: 0 });
  if (sought.length < 2 || typed === '') return null;
  if (found.error) return <p role="alert" className="px-2 py-1 text-sm text-critical">{t('failed', { why: lineOf(found.error) ?? '' })}</p>;
  if (!found.data) return <p role="status" className="px-2 py-1 text-sm text-muted">{t('searching')}</p>;
  return (
    <Group heading={t('said')}>
      {found.data.map(({ workspace_id, title, message }) => (
        <Entry
          key={message.id}
          value={`said ${message.id}`}
          // The server has found it, whatever the palette thinks of it.
          keywords={[typed]}
          icon={message.author === 'user' ? UserRound : Bot}
          text={around(message.content, sought)}
          note={title}
          choose={() => navigate(`/w/${workspace_id}/c/${message.chat_id}?m=${message.id}`)}
        />
      ))}
    </Group>
  );
}
