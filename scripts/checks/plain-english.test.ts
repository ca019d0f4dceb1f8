/**
 * Checks the language rules of the documents: short sentences, precise words, a picture and an example, one index, one
 * glossary.
 */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DOC_PAGES, INDEX_PAGE } from '../../components/docs/doc-pages.ts'

const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/*.md')].map((file) => file.replaceAll('\\', '/'))

/** Pages about terminals, code, tests and measurements: they open with text that can be pasted. */
const WITHOUT_PICTURE = new Set([
  'CONTRIBUTING.md',
  'docs/architecture.md',
  'docs/command-line.md',
  'docs/divergences.md',
  'docs/groups.md',
  'docs/performance.md',
  'docs/security.md',
  'docs/testing.md',
])

const LONGEST_SENTENCE = 30
const LARGEST_PICTURE_BYTES = 150_000
/** Phrases that replace a precise word. */
const RIDDLES =
  /\b(held against|(is|are|was|were|be) told|tells?|the like|goes? on|lets? go|comes? to|stands?(?!-)|stood|is to be|beside that)\b/i

test.each(pages)('%s has no sentence of more than 30 words', (file) => {
  const long = sentencesOf(read(file)).filter((sentence) => wordsIn(sentence) > LONGEST_SENTENCE)
  expect(long).toEqual([])
})

test.each([...pages, 'SECURITY.md', ...globSync('docs/decisions/*.md')])(
  '%s has no phrase that replaces a precise word',
  (file) => {
    expect(sentencesOf(read(file)).filter((sentence) => RIDDLES.test(sentence))).toEqual([])
  },
)

test.each(pages)('%s has an example that can be pasted', (file) => {
  expect(read(file)).toMatch(/^```\w+\n/m)
})

test.each(pages.filter((file) => !WITHOUT_PICTURE.has(file)))('%s opens with a picture', (file) => {
  const [beginning = ''] = read(file).split(/^## (?!Reading order)/m)
  expect(beginning).toMatch(/^!\[[^\]]+\]\([\w/-]+\.png\)$/m)
})

test.each(pages)('the pictures of %s exist, are described and are small', (file) => {
  for (const [, description = '', link = ''] of read(file).matchAll(/!\[([^\]]*)\]\(([^)]*)\)/g)) {
    const picture = file === 'README.md' ? link : `docs/${link}`
    expect(picture).toMatch(/^docs\/pictures\/[\w-]+\.png$/)
    expect([picture, existsSync(picture)]).toEqual([picture, true])
    expect(statSync(picture).size).toBeLessThan(LARGEST_PICTURE_BYTES)
    expect(description).toMatch(/^[A-Z].{20,}/)
  }
})

test('every picture in docs/pictures is shown by a page', () => {
  const shown = new Set(
    pages.flatMap((file) => [...read(file).matchAll(/pictures\/([\w-]+\.png)\)/g)].map(([, name]) => name)),
  )
  expect(globSync('docs/pictures/*').filter((file) => !shown.has(file.split(/[/\\]/).at(-1)))).toEqual([])
})

test('the index lists every page once, in the order and with the titles of the application', () => {
  const [, order = ''] = read(`docs/${INDEX_PAGE}.md`).split('## Reading order')
  const listed = [...order.matchAll(/^(\d+)\. \[([^\]]+)\]\(([\w-]+)\.md\) – .+\.$/gm)]
  expect(listed.map(([, , title, name]) => ({ name, title }))).toEqual(DOC_PAGES)
  expect(listed.map(([, number]) => Number(number))).toEqual(DOC_PAGES.map((_, index) => index + 1))
})

test('the glossary defines every term once, in alphabetical order', () => {
  const [, terms = '', codeTerms = ''] = read('docs/glossary.md').split(/^## .*$/m)
  for (const section of [terms, codeTerms]) {
    const rows = [...section.matchAll(/^\| (.+?) \| (.+) \| (.+) \|$/gm)].slice(2)
    const names = rows.map(([, term = '']) => term)
    expect(names.length).toBeGreaterThan(10)
    expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b, 'en')))
    expect(new Set(names).size).toBe(names.length)
    for (const [, , meaning] of rows) expect(meaning).toMatch(/^(\S.*\.)$/)
  }
})

test('sentences are found in paragraphs, lists and tables, without code', () => {
  const text =
    '# Title\n\nOne `a. B` ends.\nTwo [links](x.md) end? Three\n\n- Four. Five\n\n| six | Seven; eight. Nine |\n| --- | --- |\n\n```sh\nno sentence\n```\n'
  expect(sentencesOf(text)).toEqual([
    'Title',
    'One Code ends.',
    'Two links end?',
    'Three',
    'Four.',
    'Five',
    'six',
    'Seven',
    'eight.',
    'Nine',
  ])
  expect(wordsIn('One code – ends (2).')).toBe(4)
})

/**
 * Returns the sentences of a page. Code counts as one word. In a table, a cell ends a sentence, and so does a semicolon. Parts
 * that are copied from the code are left out.
 */
function sentencesOf(markdown: string): string[] {
  return markdown
    .replace(/<!-- Copied[\s\S]*?<!-- End -->/g, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/``.+?``|`[^`]+`/g, 'Code')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\|.*$/gm, (row) => row.replaceAll(/; |<br>/g, ' | '))
    .replace(/\*\*|(?<=\s)\*(?=\S)|(?<=\S)\*(?=[\s,.:])/g, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-#|]|\d+\.) ?)|(?<=^\|.*)(?<!\\)\|/m)
    .flatMap((block) => block.replaceAll(/\s+/g, ' ').split(/(?<=[.!?][)”"’]*) (?=[\p{Lu}\d“"(])/u))
    .map((sentence) => sentence.replace(/^[\s#|-]+|[\s|]+$/g, '').replace(/^\d+\. /, ''))
    .filter((sentence) => sentence !== '')
}

const wordsIn = (sentence: string): number => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

function read(file: string): string {
  return readFileSync(file, 'utf8')
}
