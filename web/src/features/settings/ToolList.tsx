import { useQuery } from '@tanstack/react-query';
import { Loaded } from '@/components/Loaded';
import { useText } from '@/i18n';
import { settingsApi } from '@/lib/api/settings';
import type { Role } from '@/lib/api/types';
import { useRoleWords } from '@/lib/roles';
import { Section } from './Section';

/** The tools that a role is offered. */
export function ToolList({ role }: { role: Role }) {
  const t = useText('settings');
  const words = useRoleWords();
  const tools = useQuery({ queryKey: ['tools', role.role], queryFn: () => settingsApi.tools(role.role), staleTime: Infinity });
  return (
    <Section title={t('toolsOf', { role: words.title(role.role) })} hint={words.description(role.role)}>
      <Loaded query={tools}>
        {(all) => (
          <ul className="divide-y divide-line border-y">
            {all.map((tool) => (
              <li key={tool.name} className="px-3 py-2">
                <p className="flex flex-wrap items-baseline gap-2"><code className="font-medium">{tool.name}</code><span className="text-sm text-muted">{tool.read_only ? t('readOnly') : t(`risk_${tool.risk}`)}</span></p>
                <p className="text-sm text-muted">{tool.description.split('\n')[0]}</p>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  );
}
