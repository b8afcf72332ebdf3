// Finds exports of src/ that no other file imports.
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

const web = new URL('..', import.meta.url).pathname;
const files = ts.sys.readDirectory(join(web, 'src'), ['.ts', '.tsx']).filter((file) => !file.endsWith('.d.ts'));
const used = new Map(files.map((file) => [file, new Set()]));
/** Files that are used as a whole: by the page, a worker, a test runner, or as a namespace. */
const ROOTS = /src\/(main\.tsx|testSetup\.ts|.*worker\.ts|i18n\/.*)$|\.test\.tsx?$/;

function resolve(from, name) {
  const path = name.split('?')[0];
  const base = path.startsWith('@/') ? join(web, 'src', path.slice(2)) : join(dirname(from), path);
  return [base, `${base}.ts`, `${base}.tsx`, join(base, 'index.ts')].find((file) => used.has(file));
}

/** `import('x').then((all) => all.Name)` and `{ default: all.Name }` name what they take; anything else takes all. */
function takenDynamically(call) {
  let node = call;
  while (node.parent && !ts.isStatement(node.parent)) node = node.parent;
  const names = [...node.getText().matchAll(/\b(?:all|module)\.(\w+)/g)].map(([, name]) => name);
  return names.length > 0 ? names : ['*'];
}

const exported = [];
for (const file of files) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true, file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
  const take = (name, names) => {
    const target = resolve(file, name);
    for (const one of target ? names : []) used.get(target).add(one);
  };
  const visit = (node) => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) {
      const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
      const names = bindings && (ts.isNamedImports(bindings) || ts.isNamedExports(bindings)) ? bindings.elements.map((one) => (one.propertyName ?? one.name).text) : ['*'];
      take(node.moduleSpecifier.text, names);
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword && ts.isStringLiteral(node.arguments[0])) take(node.arguments[0].text, takenDynamically(node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  for (const statement of source.statements) {
    const isExported = ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword);
    if (!isExported) continue;
    const names = ts.isVariableStatement(statement) ? statement.declarationList.declarations.map((one) => one.name.getText()) : [statement.name.text];
    exported.push(...names.map((name) => [file, name]));
  }
}
const dead = exported.filter(([file, name]) => !ROOTS.test(file) && !used.get(file).has(name) && !used.get(file).has('*'));
for (const [file, name] of dead) console.error(`${relative(web, file)}: nothing imports ${name}`);
process.exitCode = dead.length > 0 ? 1 : 0;
