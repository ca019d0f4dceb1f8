/** Checks the folders, links and lengths in the documents. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { anchorOf } from '#components/docs/doc-pages.ts'
import { CHAT_UNREAD } from '#lib/session/protocols/chat-request.ts'
import { MESSAGES_UNREAD } from '#lib/session/protocols/messages-request.ts'
import { RESPONSES_UNREAD } from '#lib/session/protocols/responses-request.ts'
import { GET } from '../../app/docs/pictures/[name]/route.ts'
import { rooms } from './import-directions.ts'

const read = (file: string) => readFileSync(file, 'utf8')
const architecture = read('docs/architecture.md')
const named = Array.from(architecture.matchAll(/^\| `([\w/-]+)` \|/gm), ([, folder]) => folder as string)

test('every folder that docs/architecture.md names exists', () => {
  expect(named.filter((folder) => !existsSync(folder))).toEqual([])
  expect(named.length).toBeGreaterThan(15)
})

test('docs/architecture.md names every folder of the first level and every lib folder', () => {
  const first = globSync('*/', { exclude: ['node_modules', 'coverage', 'test-results', 'playwright-report'] }).map(
    (folder) => folder.replace(/\/$/, ''),
  )
  const known = new Set(named.map((folder) => folder.split('/')[0]))
  expect(Object.keys(rooms).filter((room) => !named.includes(room))).toEqual([])
  expect(first.filter((folder) => !known.has(folder) && !folder.startsWith('.'))).toEqual([])
})

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'peers/README.md',
  ...globSync('docs/**/*.md'),
  ...globSync('models/**/*.md'),
]

test.each(documents)('the links of %s have existing targets', (document) => {
  const links = Array.from(read(document).matchAll(/\]\(([^)\s]+)\)/g), ([, link]) => link as string).filter(
    (link) => !/^https?:/.test(link),
  )
  const isMissing = (link: string) => {
    const [file = '', heading] = link.split('#')
    const target = file === '' ? document : path.join(path.dirname(document), file)
    return !existsSync(target) || (heading !== undefined && !anchorsIn(read(target)).includes(heading))
  }
  expect(links.filter(isMissing)).toEqual([])
})

const anchorsIn = (text: string) => Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = '']) => anchorOf(heading))

test.each(documents)('the npm scripts that %s names exist', (document) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const names = Array.from(read(document).matchAll(/npm run ([\w:-]+)/g), ([, name = '']) => name)
  expect(names.filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
})

test.each(documents)('the files that %s names exist', (document) => {
  const files = Array.from(
    read(document).matchAll(/\b(?:bench|components|e2e|lib|peers|scripts|testing)\/[\w./-]+\.(?:ts|tsx|py)\b/g),
    ([file]) => file,
  ).filter((file) => !file.includes('/NAME/'))
  expect(files.filter((file) => !existsSync(file))).toEqual([])
})

test('the README fits on a few screens', () => {
  expect(read('README.md').split('\n').length).toBeLessThan(150)
})

const recipes = read('CONTRIBUTING.md')
  .split('\n## ')
  .filter((section) => /^(?:Add|Change) /.test(section))

test.each(recipes.map((recipe) => [recipe.split('\n')[0] ?? '', recipe] as const))(
  'CONTRIBUTING.md, “%s”, names tests that exist',
  (_, recipe) => {
    const names = new Set(Array.from(recipe.matchAll(/\b[\w-]+\.test\.tsx?\b/g), ([name]) => name))
    const files = globSync('{components,lib,scripts}/**/*.test.{ts,tsx}').filter((file) =>
      names.has(path.basename(file)),
    )
    expect(new Set(files.map((file) => path.basename(file)))).toEqual(names)
    const tests = files.map(read).join('\n')
    const titles = Array.from(recipe.matchAll(/`([^`\n]+)`/g), ([, code = '']) => code).filter(
      (code) => code.includes(' ') && !/^(?:npm|node) /.test(code),
    )
    expect(titles.length).toBeGreaterThan(0)
    expect(titles.filter((title) => !tests.includes(title.replace(/^NAME|NAME$/, '')))).toEqual([])
  },
)

test('CONTRIBUTING.md has five recipes of at most five steps', () => {
  expect(recipes.map((recipe) => /\| [1-5]\. /.test(recipe) && !recipe.includes('| 6. '))).toEqual(Array(5).fill(true))
})

test.each(globSync('docs/decisions/*.md'))('%s has its four headings', (file) => {
  for (const heading of ['**Context.**', '**Decision.**', '**Consequences.**', '**What would change our mind.**'])
    expect(read(file)).toContain(heading)
})

test.each([
  ['chat completions', CHAT_UNREAD],
  ['messages', MESSAGES_UNREAD],
  ['responses', RESPONSES_UNREAD],
])('docs/sessions.md names every field that sessions refuse in %s', (_, { refused }) => {
  const [, table = ''] = read('docs/sessions.md').split('## Fields that are refused')
  expect(Object.keys(refused).filter((field) => !table.includes(`\`${field}\``))).toEqual([])
})

test('the application serves the pictures of the documentation, and no other file', async () => {
  const get = async (name: string) => {
    const { status, headers } = await GET(new Request('http://localhost/'), { params: Promise.resolve({ name }) })
    return [status, headers.get('content-type')]
  }
  expect(await get('find.png')).toEqual([200, 'image/png'])
  for (const name of ['none.png', '../playground.png', '..%2fREADME.md', '../find.md', 'find.md', ''])
    expect([name, (await get(name))[0]]).toEqual([name, 404])
})
