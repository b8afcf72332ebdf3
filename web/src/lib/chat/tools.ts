// How calls of the built-in tools look in the transcript. A test of the project's rules fails on a tool without a row.

export type CountedAs = 'burstRead' | 'burstListed' | 'burstSearched' | 'burstWrote' | 'burstFolders' | 'burstChanged' | 'burstMoved' | 'burstPlan';

interface ToolLooks {
  /** What a burst of calls counts it as; null for other calls. */
  countedAs: CountedAs | null;
  /** Whether its path is always a file. */
  opensFile: boolean;
  /** Where a call that succeeded stands: on a line of its own, on one with its neighbours, or by its category. */
  line: 'own' | 'shared' | 'by_category';
}

const plain = (countedAs: CountedAs | null, line: ToolLooks['line'] = 'by_category'): ToolLooks => ({ countedAs, opensFile: false, line });
const file = (countedAs: CountedAs, line: ToolLooks['line'] = 'by_category'): ToolLooks => ({ countedAs, opensFile: true, line });

/** Commands, deletions and tools of MCP servers keep a line of their own each, and so does what helpers found. */
const TOOLS: Record<string, ToolLooks> = {
  read: file('burstRead'),
  ls: plain('burstListed'),
  history: plain(null),
  web_fetch: plain(null),
  glob: plain('burstSearched'),
  grep: plain('burstSearched'),
  outline: plain(null),
  symbols: plain(null),
  references: plain(null),
  explore: plain(null, 'own'),
  web_search: plain(null),
  write: file('burstWrote', 'shared'),
  edit: file('burstChanged', 'shared'),
  touch: file('burstWrote', 'shared'),
  mkdir: plain('burstFolders', 'shared'),
  mv: plain('burstMoved', 'shared'),
  rm: plain(null),
  run: plain(null),
  ask_user: plain(null),
  write_plan: plain('burstPlan', 'shared'),
  exit_plan_mode: plain(null),
  update_step: plain(null),
  delegate: plain(null),
  submit_review: plain(null),
};

const OTHER = plain(null);

/** Tools of MCP servers have no row. */
export const looksOf = (tool: unknown): ToolLooks => (typeof tool === 'string' && Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : undefined) ?? OTHER;
