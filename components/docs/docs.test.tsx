import { globSync, readFileSync } from 'node:fs'
import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { helpFor, helpHref, PAGES } from '#components/shell/pages.ts'
import { anchorOf, DOC_PAGES, docHref, docName, INDEX_PAGE, pictureHref } from './doc-pages.ts'
import { DocText } from './doc-text.tsx'

const names = globSync('docs/**/*.md').map((file) => file.replaceAll('\\', '/').slice('docs/'.length, -'.md'.length))
const textOf = (name: string) => readFileSync(`docs/${name}.md`, 'utf8')

test('DOC_PAGES lists every page of the documentation once, besides the index', () => {
  const pages = names.filter((name) => !name.startsWith('decisions/') && name !== INDEX_PAGE).sort()
  expect(pages.length).toBeGreaterThan(10)
  expect(DOC_PAGES.map(({ name }) => name).sort()).toEqual(pages)
})

test.each([
  ['/', 'playground'],
  ['/t/abc', 'inspector'],
  ['/example/two-steps', 'inspector'],
  ['/open', 'inspector'],
  ['/compare', 'compare'],
  ['/compare/corpus', 'compare'],
  ['/templates', 'template-lab'],
  ['/servers', 'built-in-server'],
  ['/docs/find', ''],
])('Help on %s opens the page “%s”', (path, page) => {
  expect(helpFor(path)).toBe(page)
  expect(page === '' || names.includes(page)).toBe(true)
})

test('Every page of app/ has a row in components/shell/pages.ts, with a page of the documentation', () => {
  const folders = globSync('app/**/page.tsx')
    .map((file) => file.replaceAll('\\', '/').split('/').slice(1, -1)[0])
    .filter((folder) => folder !== '[...missing]')
  const hrefs = folders.map((folder = '') => `/${folder}`)
  expect(PAGES.map(({ href }) => href).toSorted()).toEqual([...new Set(hrefs)].toSorted())
  expect(PAGES.filter(({ help }) => help !== '' && !names.includes(help))).toEqual([])
})

test('Help links to the documentation of a page, or to the index', () => {
  expect([helpHref('/compare'), helpHref('/docs/find')]).toEqual(['/docs/compare', '/docs'])
})

test('docName accepts addresses of pages and decisions, and of no other file', () => {
  expect([docName([]), docName(['find']), docName(['decisions', '0001-one-event-stream'])]).toEqual([
    INDEX_PAGE,
    'find',
    'decisions/0001-one-event-stream',
  ])
  for (const parts of [
    ['..', 'package'],
    ['pictures', 'find'],
    ['decisions', '..'],
    ['a', 'b'],
    ['a/b'],
    ['%2e%2e'],
    ['find.md'],
  ])
    expect([parts, docName(parts)]).toEqual([parts, undefined])
})

test('links in the documentation lead to other pages, to public files and to the web', () => {
  expect(docHref('formats.md#torchrl', 'inspector')).toBe('/docs/formats#torchrl')
  expect(docHref('../formats.md', 'decisions/0001-one-event-stream')).toBe('/docs/formats')
  expect(docHref('../public/trajectory.schema.json', 'formats')).toBe('/trajectory.schema.json')
  expect(docHref('https://pypi.org/', 'formats')).toBe('https://pypi.org/')
  expect(docHref('#limits', 'formats')).toBe('#limits')
  expect(docHref('README.md', 'formats')).toBe('/docs')
  expect(docHref('../README.md', 'formats')).toBeUndefined()
  expect(docHref('../lib/rollout/families', 'formats')).toBeUndefined()
})

test('the documentation shows pictures from docs/pictures, and only the description of other images', () => {
  expect(pictureHref('pictures/find.png')).toBe('/docs/pictures/find.png')
  for (const link of [
    'find.png',
    'pictures/../find.png',
    'pictures/find.svg',
    'https://example.com/find.png',
    '/x.png',
  ])
    expect([link, pictureHref(link)]).toEqual([link, undefined])
  const text = '![The find bar](pictures/find.png) ![A logo](https://example.com/logo.png)'
  render(<DocText name="find" text={text} sizes={{ 'pictures/find.png': { width: 1440, height: 520 } }} />)
  expect(screen.getByRole('img').getAttribute('src')).toBe('/docs/pictures/find.png')
  expect(screen.getByRole('img').getAttribute('width')).toBe('1440')
  expect(screen.getByRole('img').getAttribute('height')).toBe('520')
  expect(screen.getByRole('link', { name: 'The find bar' }).getAttribute('href')).toBe('/docs/pictures/find.png')
  expect(document.body.textContent).toContain('A logo')
})

test.each(names)(
  'the page %s of the documentation has its headings, and its links lead to existing headings',
  (name) => {
    const { container } = render(<DocText name={name} text={textOf(name)} />)
    expect(container.querySelectorAll('h2')).toHaveLength(1)
    for (const link of container.querySelectorAll('a')) {
      const [page = '', anchor] = (link.getAttribute('href') ?? '').split('#')
      if (page.startsWith('http') || page.endsWith('.json') || page.endsWith('.png')) continue
      const target = page === '' ? name : page === '/docs' ? INDEX_PAGE : page.slice('/docs/'.length)
      expect(names, link.textContent).toContain(target)
      if (anchor !== undefined)
        expect(Array.from(textOf(target).matchAll(/^#+ (.*)$/gm), ([, heading = '']) => anchorOf(heading))).toContain(
          anchor,
        )
    }
  },
)

test('the documentation renders the markup of a page', () => {
  render(<DocText name="find" text={'# Find\n\n<!-- hidden -->\n\nA `term`, see [compare](compare.md).'} />)
  expect(screen.getByRole('heading', { level: 2, name: 'Find' }).id).toBe('find')
  expect(screen.getByRole('link', { name: 'compare' }).getAttribute('href')).toBe('/docs/compare')
  expect(document.body.textContent).not.toContain('hidden')
})
