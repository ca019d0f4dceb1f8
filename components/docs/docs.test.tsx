import { globSync, readFileSync } from 'node:fs'
import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { anchorOf, DOC_PAGES, docHref, docName } from './doc-pages.ts'
import { DocText } from './doc-text.tsx'
import { helpFor, helpHref } from './help-page.ts'

const names = globSync('docs/**/*.md').map((file) => file.replaceAll('\\', '/').slice('docs/'.length, -'.md'.length))
const textOf = (name: string) => readFileSync(`docs/${name}.md`, 'utf8')

test('every page of the documentation is listed once', () => {
  const pages = names.filter((name) => !name.startsWith('decisions/')).sort()
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

test('Help leads to a page below /docs, or to their list', () => {
  expect([helpHref('/compare'), helpHref('/docs/find')]).toEqual(['/docs/compare', '/docs'])
})

test('an address names a page or a decision, and no other file', () => {
  expect([docName(['find']), docName(['decisions', '0001-one-event-stream'])]).toEqual([
    'find',
    'decisions/0001-one-event-stream',
  ])
  for (const parts of [[], ['..', 'package'], ['decisions', '..'], ['a', 'b'], ['a/b'], ['%2e%2e'], ['find.md']])
    expect([parts, docName(parts)]).toEqual([parts, undefined])
})

test('links of a page lead to other pages, to public files and to the web', () => {
  expect(docHref('formats.md#torchrl', 'inspector')).toBe('/docs/formats#torchrl')
  expect(docHref('../formats.md', 'decisions/0001-one-event-stream')).toBe('/docs/formats')
  expect(docHref('../public/trajectory.schema.json', 'formats')).toBe('/trajectory.schema.json')
  expect(docHref('https://pypi.org/', 'formats')).toBe('https://pypi.org/')
  expect(docHref('#limits', 'formats')).toBe('#limits')
  expect(docHref('../lib/agent/families', 'formats')).toBeUndefined()
})

test.each(names)('%s is drawn with its headings, and its links lead to headings that there are', (name) => {
  const { container } = render(<DocText name={name} text={textOf(name)} />)
  expect(container.querySelectorAll('h2')).toHaveLength(1)
  for (const link of container.querySelectorAll('a')) {
    const [page = '', anchor] = (link.getAttribute('href') ?? '').split('#')
    if (page.startsWith('http') || page.endsWith('.json')) continue
    const target = page === '' ? name : page.slice('/docs/'.length)
    expect(names, link.textContent).toContain(target)
    if (anchor !== undefined)
      expect(Array.from(textOf(target).matchAll(/^#+ (.*)$/gm), ([, heading = '']) => anchorOf(heading))).toContain(
        anchor,
      )
  }
})

test('markup of a page is drawn, not shown', () => {
  render(<DocText name="find" text={'# Find\n\n<!-- hidden -->\n\nA `term`, see [compare](compare.md).'} />)
  expect(screen.getByRole('heading', { level: 2, name: 'Find' }).id).toBe('find')
  expect(screen.getByRole('link', { name: 'compare' }).getAttribute('href')).toBe('/docs/compare')
  expect(document.body.textContent).not.toContain('hidden')
})
