import { useEffect, useState } from 'react';
import { useText } from '@/i18n';
import { api, ApiError } from '@/lib/api/client';
import type { Finding } from '@/lib/api/types';
import { useChatIds } from '@/lib/chat/context';
import { problemLine } from '@/lib/problems';
import { toast } from '@/lib/toast';

/** After the last key, so that not every letter is linted. */
const PAUSE = 300;

/** The text of a plan's file while it is edited: read once, linted after each pause, saved as the user. */
export function usePlanText(planFile: string, done: () => void) {
  const t = useText('plan');
  const { workspaceId, chatId } = useChatIds();
  const [text, setText] = useState<string>();
  const [stored, setStored] = useState<string>();
  const [findings, setFindings] = useState<Finding[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [saving, setSaving] = useState(false);
  const fail = (error: unknown) => void problemLine(error).then(setProblem);

  useEffect(() => {
    api.fileContent(workspaceId, planFile).then(({ content }) => {
      setStored(content ?? '');
      setText(content ?? '');
    }, fail);
  }, [workspaceId, planFile]);

  useEffect(() => {
    if (text === undefined) return undefined;
    let isCurrent = true;
    const clock = setTimeout(() => {
      api.lintPlan(workspaceId, text).then(({ findings: found }) => isCurrent && setFindings(found), fail);
    }, PAUSE);
    return () => {
      isCurrent = false;
      clearTimeout(clock);
    };
  }, [workspaceId, text]);

  const save = async () => {
    setSaving(true);
    setProblem(null);
    try {
      const answer = await api.runTool(workspaceId, 'write', { path: planFile, content: text ?? '' }, chatId);
      if (answer.error) throw new ApiError(422, answer.error);
      toast(t('saved'));
      done();
    } catch (error) {
      fail(error);
    } finally {
      setSaving(false);
    }
  };
  return { text, setText, isChanged: text !== stored, findings, problem, saving, save };
}
