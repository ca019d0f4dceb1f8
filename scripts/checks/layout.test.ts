import { globSync } from 'node:fs'
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
