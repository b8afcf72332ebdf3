'use strict';
const $ = (id) => document.getElementById(id);
if (location.hash.startsWith('#token=')) {
  sessionStorage.setItem('token', location.hash.slice(7));
  history.replaceState(null, '', '/');
}
const token = sessionStorage.getItem('token') || '';
let base = '', chat = null, follow = null, cards = new Map();

async function api(path, method = 'GET', body) {
  const response = await fetch('/api/v1' + path, {
    method, headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ? answer.error.message : 'The server answered ' + response.status);
  return answer;
}
const tell = (text) => { $('notice').textContent = text; };
const attempt = (work) => async (event) => { if (event) event.preventDefault(); tell(''); try { await work(event); } catch (error) { tell(error.message); } };

function element(tag, text, className) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
}
function button(label, work, primary) {
  const node = element('button', label, primary ? 'primary' : '');
  node.type = 'button';
  node.onclick = attempt(work);
  return node;
}

function draw(message) {
  const main = $('history'), low = main.scrollHeight - main.scrollTop - main.clientHeight < 80;
  const node = card(message), old = cards.get(message.id);
  if (old) old.replaceWith(node); else main.append(node);
  cards.set(message.id, node);
  if (low) main.scrollTop = main.scrollHeight;
}

function card(message) {
  const meta = message.metadata || {}, type = message.message_type;
  if (type === 'plan') return planCard(meta);
  if (type === 'question') return questionCard(message, meta);
  if (type === 'tool_call') return callCard(meta);
  if (type === 'tool_result') {
    const node = element('article', undefined, meta.success ? 'tool' : 'tool failed');
    const details = element('details');
    details.append(element('summary', meta.success ? '✓ ' + meta.tool : '✗ ' + meta.tool + ' refused: ' + meta.error.code), element('pre', message.content));
    node.append(details);
    return node;
  }
  if (meta.review) return reviewCard(message, meta.review);
  const node = element('article', undefined, message.author);
  if (message.author === 'assistant') node.append(element('span', message.agent_role || 'assistant', 'who'));
  node.append(message.content);
  return node;
}

function planCard(meta) {
  const node = element('article', undefined, 'plan'), plan = meta.plan;
  node.append(element('h2', 'Plan: ' + plan.goal), element('small', meta.plan_file + ', revision ' + meta.revision));
  const list = element('ol');
  for (const step of plan.steps) {
    const item = element('li'), mark = element('span', MARKS.pending + ' ');
    mark.dataset.step = step.step_number;
    item.append(mark, step.action);
    if (step.reason) item.append(element('br'), element('small', step.reason));
    if (step.files && step.files.length) item.append(element('br'), element('small', 'files: ' + step.files.join(', ')));
    if (step.verify) item.append(element('br'), element('small', 'check: ' + step.verify));
    list.append(item);
  }
  node.append(list);
  for (const key of ['assumptions', 'risks', 'prerequisites', 'validation']) {
    if (plan[key] && plan[key].length) node.append(element('small', key + ': ' + plan[key].join('; ')), element('br'));
  }
  const row = element('div', undefined, 'row');
  row.append(button('Execute Plan', () => api(base + chat + '/execute', 'POST', {}), true));
  node.append(row);
  return node;
}

/* How far the approved plan has come; the newest plan card shows it. */
const MARKS = { pending: '☐', in_progress: '◐', done: '☑', skipped: '⊘' };
function showStep(step) {
  const card = Array.from(document.querySelectorAll('article.plan')).pop();
  const mark = card && card.querySelector('[data-step="' + step.step_number + '"]');
  if (!mark) return;
  mark.textContent = MARKS[step.status] + ' ';
  mark.title = [step.status.replace('_', ' '), step.note].filter(Boolean).join(': ');
}
const showProgress = (progress) => { if (progress) progress.steps.forEach(showStep); };

function reviewCard(message, review) {
  const node = element('article', undefined, 'assistant');
  node.append(element('span', message.agent_role || 'assistant', 'who'), element('h2', 'Review'), review.summary);
  const list = element('ul');
  for (const finding of review.findings) {
    const item = element('li'), place = finding.path + (finding.line ? ':' + finding.line : '');
    item.append(element('strong', finding.severity + ' '), element('code', place), ' ' + finding.comment);
    list.append(item);
  }
  node.append(list);
  return node;
}

function questionCard(message, meta) {
  const node = element('article', message.content, 'question'), questions = meta.questions, fields = {};
  if (meta.call) node.append(element('pre', meta.call.tool + ' ' + JSON.stringify(meta.call.args, null, 1)));
  const send = (answers) => api(base + chat + '/messages', 'POST', { metadata: { question_answer: { question_id: meta.question_id, answers } } });
  const row = element('div', undefined, 'row'), choices = questions.length === 1 ? choicesOf(questions[0]) : [];
  for (const choice of choices) row.append(button(choice.label, () => send({ [questions[0].name]: choice.value }), choice.variant === 'primary'));
  if (!choices.length) {
    for (const question of questions) {
      const label = element('label', question.name + ' '), input = element('input');
      input.placeholder = question.schema.type === 'string' ? 'text' : 'JSON, such as ' + (question.schema.type === 'boolean' ? 'true' : '["a"]');
      fields[question.name] = () => (question.schema.type === 'string' ? input.value : JSON.parse(input.value));
      label.append(input);
      row.append(label);
    }
    row.append(button('Answer', () => send(Object.fromEntries(Object.entries(fields).map(([name, read]) => [name, read()]))), true));
  }
  node.append(row);
  return node;
}

function choicesOf(question) {
  if (question.buttons && question.buttons.length) return question.buttons;
  if (question.schema.type === 'boolean') return [{ label: 'Yes', value: true }, { label: 'No', value: false }];
  return (question.schema.enum || []).map((value) => ({ label: String(value), value }));
}

/* What commands print while they run, by call; the result has it once they have ended. */
const printed = new Map();

function callCard(meta) {
  const args = meta.args || {};
  const node = element('article', '→ ' + meta.tool + ' ' + (args.path || args.from || args.pattern || args.command || ''), 'tool');
  node.dataset.call = meta.call_id;
  if (meta.status !== 'running') printed.delete(meta.call_id);
  if (printed.has(meta.call_id)) node.append(element('pre', printed.get(meta.call_id)));
  return node;
}

function streamOutput(data) {
  printed.set(data.call_id, ((printed.get(data.call_id) || '') + data.text).slice(-4000));
  const node = document.querySelector('[data-call="' + data.call_id + '"]');
  if (!node) return;
  const pre = node.querySelector('pre') || node.appendChild(element('pre'));
  pre.textContent = printed.get(data.call_id);
  $('history').scrollTop = $('history').scrollHeight;
}

function streamText(data) {
  let node = cards.get(data.message_id);
  if (!node) { node = element('article', '', 'assistant'); cards.set(data.message_id, node); $('history').append(node); }
  const so_far = Array.from(node.textContent).slice(0, data.offset).join('');
  node.textContent = so_far + data.text;
  $('history').scrollTop = $('history').scrollHeight;
}

function showMode(config) {
  $('mode').hidden = false;
  $('mode').dataset.mode = config.agent_mode;
  $('mode').textContent = config.mode.toUpperCase() + ' · ' + config.agent_role;
  $('mode').title = config.agent_mode === 'plan' ? 'Reads and plans. Can write nothing but the plan.' : 'Carries out the approved plan, and asks before anything outside it.';
}
function showState(state) { $('state').textContent = state.replace('_', ' '); $('stop').disabled = ['idle', 'failed'].includes(state); }

const reducers = {
  message_created: (data) => draw(data.message), message_updated: (data) => draw(data.message),
  text_delta: streamText, tool_output: streamOutput, state_changed: (data) => showState(data.state), mode_changed: (data) => { showMode(data); api(base + chat).then((one) => showProgress(one.progress)); }, plan_step: showStep,
  run_finished: (data) => {
    if (data.error) tell(data.error.message);
    else if (data.open_steps) tell('Steps of the plan that are still open: ' + data.open_steps.join(', '));
  },
};

async function listen(id, after) {
  if (follow) follow.abort();
  const mine = follow = new AbortController();
  while (!mine.signal.aborted) {
    try {
      const response = await fetch('/api/v1' + base + id + '/events', { signal: mine.signal, headers: { authorization: 'Bearer ' + token, 'last-event-id': String(after) } });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = ''; ;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
        const frames = text.split('\n\n');
        text = frames.pop();
        for (const frame of frames) {
          const line = frame.split('\n').find((line) => line.startsWith('data:'));
          if (!line) continue;
          const event = JSON.parse(line.slice(5));
          after = event.seq;
          if (event.type === 'reset') { open(id); return; }
          if (reducers[event.type]) reducers[event.type](event.data);
        }
      }
    } catch (error) { if (mine.signal.aborted) return; }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

async function open(id) {
  const snapshot = await api(base + id + '/snapshot');
  chat = id; cards = new Map(); $('history').replaceChildren(); tell('');
  showMode(snapshot.chat.config); showState(snapshot.chat.state);
  snapshot.messages.forEach(draw);
  showProgress(snapshot.chat.progress);
  if (snapshot.partial) streamText({ message_id: snapshot.partial.message_id, offset: 0, text: snapshot.partial.text });
  $('chats').value = id;
  // Until a chat is open there is nothing to write to.
  $('text').disabled = $('send').disabled = false;
  listen(id, snapshot.last_event_id);
}

async function list(select) {
  const chats = await api(base.slice(0, -1));
  $('chats').replaceChildren(...chats.map((one) => { const option = element('option', one.title); option.value = one.id; return option; }));
  await open(select || chats[0].id);
}
const create = async () => list((await api(base.slice(0, -1), 'POST', {})).id);

$('new').onclick = attempt(create);
$('chats').onchange = attempt(() => open($('chats').value));
$('stop').onclick = attempt(() => api(base + chat + '/stop', 'POST', {}));
$('composer').onsubmit = attempt(async () => {
  const content = $('text').value;
  await api(base + chat + '/messages', 'POST', { content });
  $('text').value = '';
  // A new chat is named after what was first said in it.
  $('chats').selectedOptions[0].textContent = (await api(base + chat)).title;
});
$('text').onkeydown = (event) => { if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) { event.preventDefault(); $('composer').requestSubmit(); } };

attempt(async () => {
  if (!token) throw new Error('Open the address that `planwright serve` printed after "sign in at": it carries the token.');
  const me = await api('/me');
  base = '/workspaces/' + (await api('/workspaces'))[0].id + '/chats/';
  if ((await api(base.slice(0, -1))).length) await list(); else await create();
  if (!me.models.plan) tell('No model is configured. Start with --model demo/demo to look around without one.');
  else if (me.models.plan.startsWith('demo/')) $('text').placeholder = 'Demo model: a fixed script. Say anything, for instance: Say goodbye, too.';
  $('text').focus();
})();
