import { CSPProvider } from '@base-ui/react/csp-provider';
import { MutationCache, QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { CircleAlert, ServerOff } from 'lucide-react';
import { Suspense, useEffect, useRef } from 'react';
import { Route, Switch } from 'wouter';
import { Button } from '@/components/Button';
import { ChatSkeleton } from '@/components/ChatSkeleton';
import { LiveRegion } from '@/components/LiveRegion';
import { Notice } from '@/components/Notice';
import { part } from '@/components/part';
import { POPUPS } from '@/components/Popup';
import { TipLayer } from '@/components/TipLayer';
import { Toasts } from '@/components/Toasts';
import { useText, withWords } from '@/i18n';
import { api, ApiError } from '@/lib/api/client';
import { startBridge } from '@/lib/events/bridge';
import { isOtherVersion } from '@/lib/loading';
import { useProblemLine } from '@/lib/problems';
import { ROLES } from '@/lib/roles';
import { ErrorBoundary } from './ErrorBoundary';
import { NotFound } from './NotFound';
import { Shell } from './Shell';

const loadHome = () => withWords('inbox', import('@/features/home/InboxPage')).then((all) => all.InboxPage);
const loadChat = () => withWords('workspace', withWords('chatPages', import('./ChatRoute'))).then((all) => all.ChatRoute);
const InboxPage = part(loadHome);
const ChatRoute = part(loadChat, <ChatSkeleton />);
const AuditPage = part(() => withWords('audit', import('@/features/audit/AuditPage')).then((all) => all.AuditPage));
const SignInPage = part(() => withWords('signin', import('@/features/signin/SignInPage')).then((all) => all.SignInPage), null);
const SettingsPage = part(() => withWords('workspace', withWords('keys', withWords('settings', import('@/features/settings/SettingsPage')))).then((all) => all.SettingsPage));

// The page of the address loads while the server is asked who we are; what fails here is tried again when it is shown.
const first = location.pathname === '/' ? loadHome : /^\/w\/[^/]+\/c\//.test(location.pathname) ? loadChat : null;
first?.().catch(() => undefined);

/** Between two looks for a server that is not there, in milliseconds. */
const AGAIN = 2_000;
const isGone = (error: Error | null) => error instanceof ApiError && (error.status === 0 || error.status === 502 || error.status === 503);
const isWorthRetrying = (count: number, error: Error) => count < 3 && error instanceof ApiError && (error.status === 0 || error.status >= 500);
// The server is often on this machine, which needs no network to be reached.
const REACHED = { networkMode: 'always' as const };
// Whoever was signed out meanwhile gets the page for signing in.
const mutationCache = new MutationCache({ onError: (error) => void (error instanceof ApiError && error.status === 401 && queries.invalidateQueries({ queryKey: ['me'] })) });
const queries: QueryClient = new QueryClient({ mutationCache, defaultOptions: { queries: { retry: isWorthRetrying, refetchOnWindowFocus: false, staleTime: 30_000, ...REACHED }, mutations: REACHED } });

// Nearly every page shows a role; what fails here is asked for again by who shows one.
void queries.prefetchQuery(ROLES);

export function App() {
  return (
    <ErrorBoundary>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queries}>
          <Suspense><Gate /></Suspense>
          <Toasts />
          <LiveRegion />
          <Popups />
          <TipLayer />
        </QueryClientProvider>
      </CSPProvider>
    </ErrorBoundary>
  );
}

/** Menus and tooltips are drawn in here. */
function Popups() {
  const t = useText('common');
  return <section id={POPUPS} aria-label={t('popups')} />;
}

/** A page that waited for its server may be a copy of an older one. */
function useReloadIfUpdated(isAway: boolean, isKnown: boolean): void {
  const hasWaited = useRef(false);
  useEffect(() => {
    if (isAway && !isKnown) hasWaited.current = true;
    else if (isKnown && hasWaited.current) void isOtherVersion().then((isOther) => isOther && location.reload());
  }, [isAway, isKnown]);
}

/** The server is not there, or can't say who we are. */
function Unknown({ error, retry }: { error: Error; retry: () => void }) {
  const t = useText('common');
  const lineOf = useProblemLine();
  const gone = isGone(error);
  return (
    <main className="flex h-full">
      <Notice icon={gone ? <ServerOff size={24} aria-hidden /> : <CircleAlert size={24} aria-hidden />} title={gone ? t('serverGone') : t('failed')} hint={gone ? t('serverGoneHint') : (lineOf(error) ?? '')}><Button look="primary" onClick={retry}>{t('retry')}</Button></Notice>
    </main>
  );
}

/** Lets in whom the server knows. */
function Gate() {
  const t = useText('common');
  // A server that is being started again is found as soon as it is there.
  const me = useQuery({ queryKey: ['me'], queryFn: api.me, retry: (count, error) => !isGone(error) && isWorthRetrying(count, error), staleTime: Infinity, refetchInterval: ({ state }) => (isGone(state.error) ? AGAIN : false), refetchIntervalInBackground: true });
  const { refetch } = me;
  const isKnown = me.data !== undefined;
  useReloadIfUpdated(isGone(me.error), isKnown);
  useEffect(() => {
    if (isKnown) startBridge(queries, () => void refetch());
  }, [isKnown, refetch]);
  if (me.error instanceof ApiError && me.error.status === 401) return <SignInPage auth={me.error.problem.details?.auth === 'users' ? 'users' : 'token'} isOver={isKnown} done={() => void queries.resetQueries()} />;
  if (me.error && !isKnown) return <Unknown error={me.error} retry={() => void refetch()} />;
  if (!isKnown) return <p role="status" className="sr-only">{t('loading')}</p>;
  return (
    <Shell>
      <Switch>
        <Route path="/" component={InboxPage} />
        <Route path="/w/:workspace/c/:chat/:page?">{({ workspace, chat, page }) => <ChatRoute workspaceId={workspace} chatId={chat} shown={page} />}</Route>
        <Route path="/audit" component={AuditPage} />
        <Route path="/settings/:section?">{({ section }) => <SettingsPage section={section} />}</Route>
        <Route component={NotFound} />
      </Switch>
    </Shell>
  );
}
