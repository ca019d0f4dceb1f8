import { expect, test } from 'vitest'
import { readDoc } from './doc-files.ts'

test('A page of the documentation is read with the sizes of its pictures, and an address without a page is undefined', async () => {
  const doc = await readDoc(['find'])
  expect(doc).toMatchObject({ name: 'find', text: expect.stringContaining('# Find') })
  expect(doc?.sizes).toEqual({ 'pictures/find.png': { width: 1440, height: 520 } })
  expect((await readDoc(['architecture']))?.sizes).toEqual({})
  expect(await readDoc(['nothing'])).toBeUndefined()
})
