import { useText } from '@/i18n';
import type { Json, JsonObject, TrustItem } from '@/lib/api/types';
import { commandLine } from '@/lib/commandLine';

const KINDS = { model: 'kind_model', provider: 'kind_provider', mcp_server: 'kind_mcp' } as const;

/** What of the folder's file would apply or run. */
export function TrustItems({ items }: { items: TrustItem[] }) {
  const t = useText('workspace');
  return (
    <div>
      <h3 className="mb-1 font-medium">{t('trustItems')}</h3>
      <ul className="divide-y divide-line border-y">
        {items.map((item) => (
          <li key={`${item.line} ${item.key}`} className="px-3 py-2">
            <p className="flex flex-wrap items-baseline gap-x-2 text-sm text-muted"><span>{t(KINDS[item.kind as keyof typeof KINDS] ?? 'kind_setting')}</span>{item.line != null && <span className="ml-auto">{t('line', { line: item.line })}</span>}</p>
            {item.kind === 'mcp_server' && isObject(item.value) ? <Server name={item.key} value={item.value} /> : item.kind === 'provider' && isObject(item.value) ? <Provider name={item.key} value={item.value} /> : <code className="break-all">{item.key} = {plain(item.value)}</code>}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A server of the file: exactly what is run or asked, then everything else that stands there. */
function Server({ name, value: { command, args, url, ...more } }: { name: string; value: JsonObject }) {
  const run = command === undefined ? null : [command, ...(Array.isArray(args) ? args : [])].map(String);
  return (
    <>
      <p><code className="break-all">{name}</code></p>
      <Exactly text={run ? commandLine(run) : String(url ?? '')} label={name} />
      <Entries of={more} />
    </>
  );
}

/** A provider of the file: what it would get of yours, then everything that stands there. */
function Provider({ name, value }: { name: string; value: JsonObject }) {
  const t = useText('trust');
  const { api_key_env: variable, base_url: address } = value;
  return (
    <>
      <p><code className="break-all">{name}</code></p>
      {variable !== undefined && <p className="font-medium text-critical">{address === undefined ? t('keyGoes', { variable: plain(variable) }) : t('keyGoesTo', { variable: plain(variable), address: plain(address) })}</p>}
      {typeof address === 'string' && address.startsWith('http:') && <p className="text-critical">{t('notEncrypted')}</p>}
      <Entries of={value} />
    </>
  );
}

function Entries({ of }: { of: JsonObject }) {
  return <ul>{Object.entries(of).map(([key, one]) => <li key={key}><code className="break-all">{key} = {plain(one)}</code></li>)}</ul>;
}

function Exactly({ text, label }: { text: string; label: string }) {
  return <pre tabIndex={0} aria-label={label} className="my-1 rounded-sm border bg-surface p-2 text-sm break-all whitespace-pre-wrap">{text}</pre>;
}

/** What of a server is not what was accepted. */
export function ServerChange({ item }: { item: TrustItem }) {
  const parts = Array.isArray(item.value) ? item.value.filter(isObject) : [];
  return <ul className="flex flex-col gap-3">{parts.map((part) => <li key={String(part.what)}><Part part={part} /></li>)}</ul>;
}

function Part({ part: { what, before, after } }: { part: JsonObject }) {
  const t = useText('trust');
  const tool = String(what).startsWith('tool ') ? String(what).slice(5) : null;
  const title = tool === null ? t('whatCommand') : before === null ? t('whatNewTool', { tool }) : t('whatTool', { tool });
  const tell = (side: Json | undefined) => (isObject(side) ? (tool === null ? told(side) : `${plain(side.description)}\n(${side.says_read_only === true ? t('saysReads') : t('saysReadsNot')})`) : '');
  const [was, is] = [tell(before), tell(after)];
  const look = `break-words whitespace-pre-wrap ${tool === null ? 'font-mono' : ''}`;
  return (
    <>
      <h4 className="font-medium break-all">{title}</h4>
      {was === is ? <p>{t('unseen')}</p> : (
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1">
          {was !== '' && <><dt className="text-muted">{t('before')}</dt><dd className={look}>{was}</dd></>}
          <dt className="text-muted">{t('after')}</dt>
          <dd className={look}>{is}</dd>
        </dl>
      )}
      {isObject(after) && after.schema !== undefined && (
        <details>
          <summary className="cursor-pointer text-sm text-muted">{t('schema')}</summary>
          <Exactly text={JSON.stringify(after.schema, null, 2)} label={t('schema')} />
        </details>
      )}
    </>
  );
}

/** A command or an address with what goes with it, a line each. */
function told({ command, url, ...more }: JsonObject): string {
  const first = Array.isArray(command) ? commandLine(command.map(String)) : plain(url);
  return [first, ...Object.entries(more).map(([key, value]) => `${key} = ${plain(value)}`)].join('\n');
}

const isObject = (value: Json | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
const plain = (value: Json | undefined) => (typeof value === 'string' ? value : JSON.stringify(value ?? null));
