import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

/** The largest number of files that a reader can survey. */
const MOST_FILES = 25

test(`no source folder has more than ${MOST_FILES} files of its own`, () => {
  const files = globSync('{app,bench,components,e2e,lib,peers,scripts,testing}/**/*.{py,ts,tsx}')
  const folders = Map.groupBy(files, (file) => path.dirname(file))
  const crowded = Array.from(folders).filter(([, { length }]) => length > MOST_FILES)
  expect(crowded.map(([folder, { length }]) => `${folder}: ${length}`)).toEqual([])
})

/** The largest number of lines of a page in app/, whose content is a component. */
const MOST_LINES = 20

test(`no page of app/ has more than ${MOST_LINES} lines`, () => {
  const lines = globSync('app/**/page.tsx').map((page) => ({
    page,
    lines: readFileSync(page, 'utf8').split('\n').length - 1,
  }))
  expect(lines.filter((one) => one.lines > MOST_LINES)).toEqual([])
  expect(lines.length).toBeGreaterThan(10)
})

test('The description of a module is before its imports', () => {
  // A tool that sorts imports moves a comment together with the import after it, unless there is an empty line between them.
  const files = globSync('{app,bench,components,e2e,lib,peers,scripts,testing}/**/*.{ts,tsx}')
  const misplaced = files.filter((file) => {
    const text = readFileSync(file, 'utf8')
    return /^import [^;`]*?\n\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n+import /m.test(text)
  })
  expect(misplaced).toEqual([])
})
