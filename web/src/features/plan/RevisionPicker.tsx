import { useText, useLocale } from '@/i18n';
import type { Revision } from './model';

interface Props {
  revisions: Revision[];
  shown: Revision;
  onShow: (revision: Revision) => void;
  against: Revision | undefined;
  onCompare: (revision: Revision | undefined) => void;
}

/** Which version is shown, and which it is compared with. */
export function RevisionPicker({ revisions, shown, onShow, against, onCompare }: Props) {
  const t = useText('plan');
  const locale = useLocale((state) => state.locale);
  const when = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', month: 'short', day: 'numeric' });
  const name = (revision: Revision) => {
    const shownAt = t('revisionOf', { revision: revision.revision, when: when.format(new Date(revision.createdAt)) });
    return revision.isEdited ? `${shownAt} · ${t('edited')}` : shownAt;
  };
  const byId = (id: string) => revisions.find((revision) => revision.messageId === id);
  const earlier = revisions.slice(0, revisions.indexOf(shown));
  const look = 'field-sizing-content min-h-8 min-w-0 rounded-sm border border-control bg-bg px-1.5 text-sm pointer-coarse:min-h-11';
  return (
    <div className="flex flex-wrap gap-x-3 gap-y-1 text-sm">
      <label className="flex min-w-0 items-center gap-1.5">
        {t('revisions')}
        <select value={shown.messageId} onChange={(event) => onShow(byId(event.target.value) ?? shown)} className={look}>
          {revisions.toReversed().map((revision) => (
            <option key={revision.messageId} value={revision.messageId}>
              {name(revision)}
            </option>
          ))}
        </select>
      </label>
      {earlier.length > 0 && (
        <label className="flex min-w-0 items-center gap-1.5">
          {t('compareWith')}
          <select value={against?.messageId ?? ''} onChange={(event) => onCompare(byId(event.target.value))} className={look}>
            <option value="">{t('nothingToCompare')}</option>
            {earlier.toReversed().map((revision) => (
              <option key={revision.messageId} value={revision.messageId}>
                {t('versionShort', { revision: revision.revision })}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}
