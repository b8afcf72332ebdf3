import { Tooltip } from '@base-ui/react/tooltip';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Route, Switch } from 'wouter';
import { HomePage } from '@/features/home/HomePage';
import { useText } from '@/i18n';
import { ChatRoute } from './ChatRoute';

const queries = new QueryClient();

export function App() {
  const t = useText('common');
  return (
    <QueryClientProvider client={queries}>
      <Tooltip.Provider delay={400}>
        <Switch>
          <Route path="/" component={HomePage} />
          <Route path="/w/:workspace/c/:chat">{({ workspace, chat }) => <ChatRoute workspaceId={workspace} chatId={chat} />}</Route>
          <Route>{t('notFound')}</Route>
        </Switch>
      </Tooltip.Provider>
    </QueryClientProvider>
  );
}
