// What can be done in a chat by its name.
import { useQueryClient } from '@tanstack/react-query';
import { FileDiff, FolderTree, Gauge, GitCompareArrows, History, ListChecks, Pencil, Play, Search, Shrink, Square, Zap } from 'lucide-react';
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { iconOf } from '@/components/RoleIcon';
import { useSwitch } from '@/features/mode/switching';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';
import { useChatActions, useChatIds } from '@/lib/chat/context';
import { openFind } from '@/lib/chat/find';
import { useOffer, type Command } from '@/lib/commands';
import { modifier } from '@/lib/keys';
import { openPanel } from '@/lib/layout';
import { useMayChange } from '@/lib/rights';
import { useRoles, useRoleWords } from '@/lib/roles';
import { toastError } from '@/lib/toast';

export function useChatCommands(): void {
  const t = useText('chatCommand');
  const roles = useRoles();
  const { title: titleOf } = useRoleWords();
  const { workspaceId, chatId } = useChatIds();
  const { execute, stop } = useChatActions();
  const request = useSwitch();
  const mayChange = useMayChange(workspaceId);
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const commands = useMemo(() => {
    const chat = `/w/${workspaceId}/c/${chatId}`;
    const mod = modifier();
    const looks: Command[] = [
      { name: 'find', label: t('find'), icon: Search, keys: `${mod}+F`, wants: t('findWants'), run: (text) => openFind(text) },
      { name: 'plan-panel', label: t('planPanel'), icon: ListChecks, run: () => openPanel('plan') },
      { name: 'changes', label: t('changes'), icon: FileDiff, run: () => openPanel('changes') },
      { name: 'files', label: t('files'), icon: FolderTree, run: () => openPanel('files') },
      { name: 'context', label: t('context'), icon: Gauge, run: () => openPanel('context') },
      { name: 'all-changes', label: t('allChanges'), icon: GitCompareArrows, run: () => navigate(`${chat}/changes`) },
      { name: 'timeline', label: t('timeline'), icon: History, run: () => navigate(`${chat}/timeline`) },
    ];
    const acts: Command[] = [
      { name: 'plan', label: t('plan'), icon: Search, keys: `${mod}+.`, run: () => void request({ agent_mode: 'plan' }) },
      { name: 'build', label: t('build'), icon: Zap, keys: `${mod}+.`, run: () => void request({ agent_mode: 'act' }) },
      { name: 'execute', label: t('execute'), icon: Play, run: () => void execute().catch(toastError) },
      { name: 'stop', label: t('stop'), icon: Square, keys: 'Esc Esc', run: () => void stop().catch(toastError) },
      { name: 'compact', label: t('compact'), icon: Shrink, run: () => void api.compact(workspaceId, chatId).then(() => queries.invalidateQueries({ queryKey: ['context'] }), toastError) },
      { name: 'rename', label: t('rename'), icon: Pencil, wants: t('renameWants'), needsWords: true, run: (title) => void (title && api.changeChat(workspaceId, chatId, { title }).catch(toastError)) },
      ...roles.map((row): Command => ({ name: row.role, label: t('role', { role: titleOf(row.role) }), icon: iconOf(row), run: () => void request({ agent_role: row.role }) })),
    ];
    return mayChange ? [...acts, ...looks] : looks;
  }, [t, roles, titleOf, workspaceId, chatId, request, execute, stop, navigate, queries, mayChange]);
  useOffer('chat', commands);
}
