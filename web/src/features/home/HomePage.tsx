import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';

export function HomePage() {
  const t = useText('home');
  const chats = useQuery({
    queryKey: ['chats'],
    queryFn: async () => (await Promise.all((await api.workspaces()).map((one) => api.chats(one.id)))).flat(),
  });
  return (
    <main className="p-6">
      <h1 className="text-xl font-semibold">{t('title')}</h1>
      <ul>
        {chats.data?.map((chat) => (
          <li key={chat.id}>
            <Link href={`/w/${chat.workspace_id}/c/${chat.id}`}>{chat.title}</Link>
          </li>
        ))}
      </ul>
    </main>
  );
}
