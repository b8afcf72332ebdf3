import { useQuery } from '@tanstack/react-query';
import { Info } from 'lucide-react';
import { useText } from '@/i18n';
import { api } from '@/lib/api/client';

/** Says how to get a model when there is none, and that the demo is a script. */
export function ModelNotice() {
  const t = useText('home');
  const me = useQuery({ queryKey: ['me'], queryFn: api.me, staleTime: Infinity });
  if (!me.data) return null;
  const { plan } = me.data.models;
  if (plan && !plan.startsWith('demo/')) return null;
  return (
    <p className="flex items-start gap-2 rounded-md border border-major bg-major-soft px-3 py-2 text-major">
      <Info size={16} aria-hidden className="mt-0.5 shrink-0" />
      {plan ? t('demoModel') : t('noModel')}
    </p>
  );
}
