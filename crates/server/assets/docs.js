// The API's description as a page. Every text of it goes in as text, so that nothing in it can become markup.
'use strict';

function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
const anchor = (name) => 'type-' + name;
const nameOf = (reference) => reference.split('/').pop();

/* A schema in a few words; types with a name are links. */
function typeOf(schema) {
  if (!schema || !Object.keys(schema).length) return ['anything'];
  if (schema.$ref) return [element('a', { href: '#' + anchor(nameOf(schema.$ref)) }, nameOf(schema.$ref))];
  if (schema.const !== undefined) return [element('code', {}, JSON.stringify(schema.const))];
  if (schema.enum) return [element('code', {}, schema.enum.map((value) => JSON.stringify(value)).join(' | '))];
  const either = schema.oneOf || schema.anyOf;
  if (either) return either.flatMap((one, index) => (index ? [' or ', ...typeOf(one)] : typeOf(one)));
  const kinds = [].concat(schema.type || 'object');
  if (kinds.includes('array')) return ['list of ', ...typeOf(schema.items)];
  return [kinds.join(' or ') + (schema.format ? ' (' + schema.format + ')' : '')];
}

function fields(rows) {
  const table = element('table', {}, element('tr', {}, ...['name', 'type', ''].map((head) => element('th', { scope: 'col' }, head))));
  for (const { name, type, text } of rows) {
    table.append(element('tr', {}, element('td', {}, element('code', {}, name)), element('td', {}, ...type), element('td', {}, text || '')));
  }
  return table;
}

function properties(schema) {
  const required = schema.required || [];
  return Object.entries(schema.properties || {}).map(([name, property]) => ({
    name: required.includes(name) ? name : name + '?', type: typeOf(property), text: property.description,
  }));
}

function media(title, content) {
  return Object.entries(content || {}).map(([kind, { schema, example }]) => {
    const details = element('details', {}, element('summary', {}, title + ', ' + kind + ': ', ...typeOf(schema)));
    if (example !== undefined) details.append(element('pre', {}, JSON.stringify(example, null, 2)));
    return details;
  });
}

function route(method, path, entry) {
  const verb = method.toUpperCase();
  const node = element('section', { id: entry.operationId },
    element('h3', {}, element('span', { class: 'method ' + verb }, verb), element('code', {}, path)),
    element('p', {}, entry.summary, entry.security.length ? '' : element('span', { class: 'note' }, ' (needs no sign-in)')));
  if (entry.parameters.length) {
    node.append(fields(entry.parameters.map((one) => ({ name: one.name + (one.required ? '' : '?'), type: [one.in + ', ', ...typeOf(one.schema)], text: one.description }))));
  }
  if (entry.requestBody) node.append(...media(entry.requestBody.required ? 'Body' : 'Body (optional)', entry.requestBody.content));
  for (const [status, answer] of Object.entries(entry.responses)) {
    if (status < '400') node.append(...(answer.content ? media(status, answer.content) : [element('p', {}, status + ' ' + answer.description)]));
  }
  const errors = Object.entries(entry.responses).filter(([status]) => status >= '400').map(([status, answer]) => status + ' ' + answer.description.replaceAll('`', ''));
  node.append(element('p', { class: 'note' }, 'Errors: ' + errors.join('; ')));
  return node;
}

function type(name, schema) {
  const node = element('section', { id: anchor(name) }, element('h3', {}, element('code', {}, name)));
  if (schema.description) node.append(element('p', {}, schema.description));
  if (schema.properties) node.append(fields(properties(schema)));
  const variants = schema.oneOf || schema.anyOf || [];
  for (const variant of variants) {
    node.append(variant.properties ? fields(properties(variant)) : element('p', {}, ...typeOf(variant), variant.description ? ': ' + variant.description : ''));
  }
  if (!schema.properties && !variants.length) node.append(element('p', {}, ...typeOf(schema)));
  return node;
}

function draw(description) {
  const get = (id) => document.getElementById(id);
  get('introduction').replaceChildren(...description.info.description.split('\n\n').flatMap((text, index) => (index ? [element('br', {}), text] : [text])));
  const sections = new Map();
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, entry] of Object.entries(methods)) {
      const tag = entry.tags[0];
      if (!sections.has(tag)) sections.set(tag, []);
      sections.get(tag).push({ method, path, entry });
    }
  }
  for (const [tag, rows] of sections) {
    const list = element('ul', {});
    get('contents').append(element('h2', {}, tag), list);
    get('routes').append(element('h2', {}, tag));
    for (const { method, path, entry } of rows) {
      const verb = method.toUpperCase();
      list.append(element('li', {}, element('a', { href: '#' + entry.operationId }, element('span', { class: 'method ' + verb }, verb), path.replace('/api/v1', ''))));
      get('routes').append(route(method, path, entry));
    }
  }
  get('types').append(...Object.entries(description.components.schemas).map(([name, schema]) => type(name, schema)));
  get('find').addEventListener('input', (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    for (const node of document.querySelectorAll('main section, nav li')) node.hidden = !node.textContent.toLowerCase().includes(wanted);
  });
  // The place that the address names is only here now.
  if (location.hash) location.replace(location.hash);
}

fetch('/openapi.json').then((response) => response.json()).then(draw).catch((error) => {
  document.getElementById('introduction').textContent = 'The description could not be read: ' + error.message;
});
