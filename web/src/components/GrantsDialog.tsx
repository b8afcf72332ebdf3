import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Button } from '@/components/Button';
import { Failed } from '@/components/Failed';
import { Modal } from '@/components/Modal';
import { Skeleton } from '@/components/Skeleton';
import { useText } from '@/i18n';
import { announce } from '@/lib/announce';
import { reviewApi } from '@/lib/api/review';
import type { Grant } from '@/lib/api/types';
import { useChatIds } from '@/lib/chat/context';
import { shownName } from '@/lib/marks';
import { useMayChange } from '@/lib/rights';
import { toastError } from '@/lib/toast';

/** What was always allowed in the chat, and revoking it. */
export function GrantsDialog({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const t = useText('approval');
  return <Modal isOpen={isOpen} close={close} title={t('grantsTitle')} isRead>{isOpen && <Grants />}</Modal>;
}

function Grants() {
  const t = useText('approval');
  const { workspaceId, chatId } = useChatIds();
  const mayChange = useMayChange(workspaceId);
  const queries = useQueryClient();
  const queryKey = ['grants', chatId];
  const grants = useQuery({ queryKey, queryFn: () => reviewApi.grants(workspaceId, chatId), staleTime: 0 });
  if (grants.error) return <Failed error={grants.error} retry={() => void grants.refetch()} />;
  if (!grants.data) return <Skeleton rows={2} />;
  const revoke = async ({ id, tool, folder }: Grant) => {
    try {
      await reviewApi.revoke(workspaceId, chatId, id);
      announce(t('revoked', { tool, folder }));
    } catch (error) {
      toastError(error);
    }
    await queries.invalidateQueries({ queryKey });
  };
  return (
    <>
      <p className="text-fg2">{grants.data.length > 0 ? t('grantsHint') : t('grantsEmpty')}</p>
      <ul className="mt-2 empty:hidden">
        {grants.data.map((grant) => (
          <li key={grant.id} className="flex items-center gap-2 border-t py-1.5 first:border-t-0">
            <div className="min-w-0 flex-1">
              <p className="break-all">{t('grantLine', { tool: grant.tool, folder: shownName(grant.folder) })}</p>
              {grant.by && <p className="text-xs text-muted">{t('grantBy', { name: grant.by })}</p>}
            </div>
            {mayChange && <Button aria-label={t('revokeOf', { tool: grant.tool, folder: shownName(grant.folder) })} onClick={() => void revoke(grant)}>{t('revoke')}</Button>}
          </li>
        ))}
      </ul>
    </>
  );
}
