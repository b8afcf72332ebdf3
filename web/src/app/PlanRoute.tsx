import { part } from '@/components/part';
import { PlanPage } from '@/features/plan/page/PlanPage';
import { QuestionBar } from '@/features/question/QuestionBar';
import { useText } from '@/i18n';
import { ChatSubPage } from './ChatSubPage';

const FileViewer = part(() => import('@/features/files/FileViewer').then((all) => all.FileViewer));

/** The plan of a chat as a page. */
export function PlanRoute() {
  const t = useText('panel');
  return <ChatSubPage title={t('plan')}><PlanPage dock={<QuestionBar />} FileView={FileViewer} /></ChatSubPage>;
}
