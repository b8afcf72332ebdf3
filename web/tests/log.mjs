// Ninety days of a team's work in the log of a server: put into its database while it does not run, so that all that is shown is counted by the server itself.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const DAY = 86_400_000;
export const MODELS = ['anthropic/claude-sonnet-4-5', 'local/qwen3-coder', 'openai/gpt-5-mini'];
/** How often each model tries what it may not, in a hundred calls. */
const WILDNESS = { [MODELS[0]]: 1, [MODELS[1]]: 9, [MODELS[2]]: 4 };
const FORBIDDEN = [['write', { path: '/src/lib.rs', content: '…' }], ['edit', { path: '/src/main.rs', old_string: 'a', new_string: 'b' }], ['run', { command: 'cargo fix --allow-dirty' }], ['rm', { path: '/README.md' }], ['mv', { from: '/a.rs', to: '/b.rs' }]];

/** Always the same numbers. */
function dice(seed) {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** What happened on one day: more on working days, and a bad week in the middle. */
function rowsOf(roll, day, chats) {
  const audit = [];
  const calls = [];
  const weekend = [0, 6].includes(new Date(day).getUTCDay());
  const isBad = Math.abs(day / DAY - Math.floor(day / DAY / 45) * 45 - 22) < 4;
  const moment = () => day + roll(DAY - 1);
  const log = (chat, kind, role, model, details, at = moment()) => audit.push({ chat, kind, role, model, details, at });
  for (let run = 0; run < (weekend ? roll(3) : 6 + roll(8)); run += 1) {
    const chat = chats[roll(chats.length)];
    const model = MODELS[roll(10) < 5 ? 0 : 1 + roll(2)];
    const role = ['planner', 'planner', 'actor', 'actor', 'reviewer', 'tester'][roll(6)];
    for (let call = 0; call < 4 + roll(20); call += 1) {
      calls.push({ chat, role, model, tool: 'read', at: moment() });
      if (roll(100) >= WILDNESS[model] * (isBad ? 3 : 1)) continue;
      const [tool, args] = FORBIDDEN[roll(FORBIDDEN.length)];
      const isPlanning = role === 'planner' || role === 'reviewer';
      const details = { tool, code: isPlanning ? 'TOOL_BLOCKED_BY_MODE' : 'TOOL_NOT_PERMITTED', args };
      const at = moment();
      calls.push({ chat, role, model, tool, at });
      log(chat, 'tool_blocked', role, model, details, at);
      if (isPlanning) log(chat, 'disallowed_tool_attempt_in_planning', role, model, details, at);
    }
    if (roll(3) === 0) log(chat, 'question_asked', role, model, { questions: 1 + roll(3), severity: ['minor', 'minor', 'major', 'major', 'critical'][roll(5)] });
    if (roll(4) === 0) log(chat, 'approval_requested', 'actor', model, { tool: 'rm', reason: 'It deletes a file.' });
    const by = ['user', 'approval', 'approval', 'intent', 'auto'][roll(5)];
    const mode = by === 'user' && roll(2) === 0 ? 'plan' : 'act';
    if (roll(2) === 0) log(chat, 'mode_entered', mode === 'plan' ? 'planner' : 'actor', '', { mode, by });
    if (by === 'approval') log(chat, 'plan_approved', 'planner', '', { plan_file: '/plans/greet.plan', revision: 1 + roll(3), approver: 'you' });
  }
  return { audit, calls };
}

/** The rows of so many days that end with the day before this moment. */
export function ninetyDays(chats, now = Date.now(), days = 90) {
  const roll = dice(7);
  const today = Math.floor(now / DAY) * DAY;
  const found = Array.from({ length: days - 1 }, (_, index) => rowsOf(roll, today - (days - 1 - index) * DAY, chats));
  return { audit: found.flatMap((day) => day.audit), calls: found.flatMap((day) => day.calls) };
}

const INSERT = `
import json, sqlite3, sys, uuid
path, rows = sys.argv[1], json.load(sys.stdin)
base = sqlite3.connect(path)
key = lambda text: uuid.UUID(text).bytes
base.executemany("insert into audit (workspace_id, chat_id, kind, model, agent_role, details, created_at) values ((select workspace_id from chats where id = ?), ?, ?, ?, ?, ?, ?)",
    [(key(r["chat"]), key(r["chat"]), r["kind"], r["model"], r["role"], json.dumps(r["details"]), int(r["at"]) * 1000) for r in rows["audit"]])
base.executemany("insert into messages (id, chat_id, seq, author, agent_role, message_type, content, metadata, model, created_at) values (?, ?, ?, 'assistant', ?, 'tool_call', ?, ?, ?, ?)",
    [(uuid.uuid4().bytes, key(r["chat"]), -1 - place, r["role"], r["tool"], json.dumps({"tool": r["tool"], "call_id": str(uuid.uuid4()), "args": {}, "status": "done"}), r["model"], int(r["at"]) * 1000)
        for place, r in enumerate(rows["calls"])])
base.commit()
base.close()
`;

/** Gives a server such a past. It is stopped for this, and started again. */
export async function fillLog(server, titles = ['Rate limits', 'Farewell module', 'Faster start', '登录页面', 'Dependency update']) {
  const chats = [];
  for (const title of titles) chats.push((await server.newChat({ title })).id);
  return { chats, ...(await fillLogOf(server, chats)) };
}

/** The same for chats that are there, by their ids. */
export async function fillLogOf(server, chats, now = Date.now()) {
  const rows = ninetyDays(chats, now);
  await server.stop();
  const done = spawnSync('python3', ['-c', INSERT, join(server.home, 'data/planwright.db')], { input: JSON.stringify(rows), maxBuffer: 1 << 26 });
  if (done.status !== 0) throw new Error(String(done.stderr));
  await server.start();
  return rows;
}
