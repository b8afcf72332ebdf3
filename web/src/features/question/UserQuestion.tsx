import { LoaderCircle } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, Suspense, lazy, useId } from 'react';
import { Button, type ButtonLook } from '@/components/Button';
import { Markdown } from '@/components/markdown/Markdown';
import { useText } from '@/i18n';
import { isLast, partAt } from './answering';
import { BarFoot, titleClass } from './BarFrame';
import { ButtonRow } from './ButtonRow';
import { sameJson } from './json';
import type { useAnswering } from './useAnswering';
import type { AnswerButton, QuestionView } from './view';

/** More answers than this stand with the question, and scroll with it. */
const MOST_IN_FOOT = 5;

const SchemaForm = lazy(() => import('./SchemaForm'));

interface Props {
  view: QuestionView;
  given: ReturnType<typeof useAnswering>;
}

/** What the agent asks, one question at a time: buttons where it gave some, else the form for its schema. */
export function UserQuestion({ view, given }: Props) {
  const t = useText('question');
  const labelId = useId();
  const { answering, sending, problem } = given;
  const part = partAt(answering);
  const { item } = part;
  const critical = view.severity === 'critical';
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    void given.advance();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
    const inField = event.target instanceof HTMLInputElement;
    // Nothing critical is sent by a key that people press without looking.
    if (critical && inField) event.preventDefault();
    else if (!critical && (event.ctrlKey || event.metaKey)) onSubmit(event);
  };
  const row = item.buttons.length > 0 && (
    <ButtonRow label={t('title')} digits={critical ? 'focus' : 'press'} isHeld={given.held || sending} buttons={item.buttons.map((button) => rowButton(button, part.picked, () => void given.pick(button.value), item.preset))} />
  );
  const wrong = new Set([...part.complaints.map((complaint) => complaint.pointer), ...Object.keys(part.fromServer)]).size;
  return (
    <form onSubmit={onSubmit} onKeyDown={onKeyDown} noValidate className="flex flex-col gap-3">
      <div>
        <div id={labelId} className={titleClass}>
          <Markdown text={item.text} />
        </div>
        {item.context !== undefined && (
          <div className="mt-1 text-fg2">
            <Markdown text={item.context} />
          </div>
        )}
      </div>
      {item.buttons.length === 0 && (
        <Suspense fallback={<p className="text-muted">{t('loading')}</p>}>
          <SchemaForm key={item.name} part={part} labelledBy={labelId} refusals={given.refusals} onEnter={given.enter} />
        </Suspense>
      )}
      {item.buttons.length > MOST_IN_FOOT && row}
      <BarFoot>
        {item.buttons.length <= MOST_IN_FOOT && row}
        {problem !== null && (
          <p role="alert" className="text-sm text-critical">
            {problem}
          </p>
        )}
        <div className="flex flex-wrap items-center gap-2 empty:hidden">
          {answering.step > 0 && <Button onClick={() => given.goTo(answering.step - 1)}>{t('back')}</Button>}
          {(item.buttons.length === 0 || (part.picked !== undefined && answering.parts.length > 1)) && (
            <Button type="submit" look="primary" aria-disabled={sending || given.held}>
              {sending && <LoaderCircle className="size-4 animate-spin" aria-hidden="true" />}
              {sending ? t('sending') : !isLast(answering) ? t('next') : answering.parts.length > 1 ? t('sendAll') : t('send')}
            </Button>
          )}
          {wrong > 0 && <span className="text-sm text-critical">{t('mendFirst', { count: wrong })}</span>}
        </div>
      </BarFoot>
    </form>
  );
}

function rowButton(button: AnswerButton, picked: unknown, onPress: () => void, preset: unknown) {
  const isPreset = sameJson(button.value, preset as never);
  const look: ButtonLook = isPreset && button.variant !== 'danger' ? 'primary' : button.variant;
  return {
    label: button.label,
    look,
    onPress,
    ...(button.description !== undefined && { hint: button.description, isHintShown: true }),
    ...(picked !== undefined && sameJson(button.value, picked as never) && { pressed: true }),
  };
}
