import { useText } from '@/i18n';
import { type Answering, valueOf } from './answering';

/** Which question of a batch is shown, and which have an answer. */
export function Stepper({ answering, onGo }: { answering: Answering; onGo: (step: number) => void }) {
  const t = useText('question');
  const { parts, step } = answering;
  return (
    <nav aria-label={t('steps')} className="flex items-center gap-1.5">
      <ol className="flex items-center gap-0.5">
        {parts.map((part, place) => {
          const done = place !== step && valueOf(part).value !== undefined && place < step;
          const name = t('stepName', { step: place + 1, name: part.item.name });
          return (
            <li key={part.item.name}>
              <button
                type="button"
                onClick={() => onGo(place)}
                aria-label={done ? `${name}, ${t('stepDone')}` : name}
                aria-current={place === step ? 'step' : undefined}
                className="flex size-6 items-center justify-center rounded-sm"
              >
                <span className={`block size-2 rounded-full border border-fg/70 ${place === step ? 'bg-fg' : done ? 'bg-fg/60' : ''}`} />
              </button>
            </li>
          );
        })}
      </ol>
      <span className="text-sm whitespace-nowrap tabular-nums">{t('stepOf', { step: step + 1, count: parts.length })}</span>
    </nav>
  );
}
