// A row of the log in a few words.
import type { Text } from '@/i18n';
import type { AuditEntry, Json } from '@/lib/api/types';

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** What a call was about. */
function aim(args: Json | undefined): string {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return '';
  return text(args.command) || text(args.path) || [text(args.from), text(args.to)].filter(Boolean).join(' → ') || text(args.pattern);
}

export function detailsOf(t: Text<'audit'>, { kind, details }: Pick<AuditEntry, 'kind' | 'details'>): string {
  switch (kind) {
    case 'tool_blocked':
    case 'disallowed_tool_attempt_in_planning': return [text(details.tool), aim(details.args), text(details.code)].filter(Boolean).join(' · ');
    case 'mode_entered': return [details.mode === 'plan' ? t('plan') : t('build'), causeOf(t, details.by)].filter(Boolean).join(' · ');
    case 'approval_requested':
    case 'approval_given':
    case 'approval_denied': return [text(details.tool), text(details.reason), text(details.plan_file)].filter(Boolean).join(' · ');
    case 'question_asked': return [severityOf(t, details.severity), t('asked', { count: Number(details.questions ?? 1) })].filter(Boolean).join(' · ');
    case 'plan_written':
    case 'plan_approved': return [text(details.plan_file), details.revision ? t('revision', { revision: Number(details.revision) }) : '', text(details.approver)].filter(Boolean).join(' · ');
    case 'changes_taken_back': return t('filesBack', { count: Number(details.files ?? 0) });
    case 'grant_revoked': return [text(details.tool), text(details.folder)].filter(Boolean).join(' · ');
    case 'login_failed': return [text(details.name), text(details.address)].filter(Boolean).join(' · ');
    case 'account_changed': return [text(details.name), changeOf(t, details.change)].filter(Boolean).join(' · ');
    case 'execution_intent_detected':
    case 'mode_switched_by_intent': return '';
  }
}

function changeOf(t: Text<'audit'>, change: Json | undefined): string {
  switch (change) {
    case 'made': return t('accountMade');
    case 'removed': return t('accountRemoved');
    default: return t('accountPassword');
  }
}

function causeOf(t: Text<'audit'>, by: Json | undefined): string {
  switch (by) {
    case 'user': return t('user');
    case 'approval': return t('approval');
    case 'intent': return t('intent');
    case 'auto': return t('auto');
    default: return t('beginning');
  }
}

function severityOf(t: Text<'audit'>, severity: Json | undefined): string {
  return severity === 'critical' || severity === 'major' || severity === 'minor' ? t(severity) : '';
}
