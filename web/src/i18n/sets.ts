// The words come in sets. Each set of each language is a file of its own, loaded when a view first needs it.

export type Locale = 'en' | 'zh';

const ENGLISH = {
  first: () => import('./en/first'),
  signin: () => import('./en/signin'),
  start: () => import('./en/start'),
  inbox: () => import('./en/inbox'),
  chatPages: () => import('./en/chatPages'),
  beside: () => import('./en/beside'),
  workspace: () => import('./en/workspace'),
  audit: () => import('./en/audit'),
  settings: () => import('./en/settings'),
  trust: () => import('./en/trust'),
  palette: () => import('./en/palette'),
  errors: () => import('./en/errors'),
  keys: () => import('./en/keys'),
  planPage: () => import('./en/planPage'),
  review: () => import('./en/review'),
};

export type WordSet = keyof typeof ENGLISH;
type Words<S extends WordSet> = Awaited<ReturnType<(typeof ENGLISH)[S]>>;
/** All words, by feature. */
export type Dictionary = Words<'first'> & Words<'signin'> & Words<'start'> & Words<'inbox'> & Words<'chatPages'> & Words<'beside'> & Words<'workspace'> & Words<'audit'> & Words<'settings'> & Words<'trust'> & Words<'palette'> & Words<'errors'> & Words<'keys'> & Words<'planPage'> & Words<'review'>;
export type Feature = keyof Dictionary;
/** Every other language must have the same keys. */
type Translated<S extends WordSet> = { [F in keyof Words<S>]: { [K in keyof Words<S>[F]]: string } };

export const LOADERS: { [L in Locale]: { [S in WordSet]: () => Promise<Translated<S>> } } = {
  en: ENGLISH,
  zh: {
    first: () => import('./zh/first'),
    signin: () => import('./zh/signin'),
    start: () => import('./zh/start'),
    inbox: () => import('./zh/inbox'),
    chatPages: () => import('./zh/chatPages'),
    beside: () => import('./zh/beside'),
    workspace: () => import('./zh/workspace'),
    audit: () => import('./zh/audit'),
    settings: () => import('./zh/settings'),
    trust: () => import('./zh/trust'),
    palette: () => import('./zh/palette'),
    errors: () => import('./zh/errors'),
    keys: () => import('./zh/keys'),
    planPage: () => import('./zh/planPage'),
    review: () => import('./zh/review'),
  },
};

type SetWith<F extends Feature> = { [S in WordSet]: F extends keyof Words<S> ? S : never }[WordSet];
export const SET_OF: { [F in Feature]: SetWith<F> } = {
  command: 'first', common: 'first', composer: 'first', home: 'first', mode: 'first', roles: 'first', signin: 'signin', start: 'start',
  inbox: 'inbox', signals: 'inbox',
  chat: 'chatPages', chatCommand: 'chatPages', switching: 'chatPages', plan: 'chatPages', question: 'chatPages', panel: 'chatPages', workspace: 'workspace',
  timeline: 'beside', changes: 'beside', context: 'beside', files: 'beside',
  audit: 'audit', settings: 'settings', trust: 'trust', palette: 'palette', errors: 'errors', keys: 'keys', planPage: 'planPage', changesPage: 'review', approval: 'review',
};
