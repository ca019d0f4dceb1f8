import { expect, test } from 'vitest'
import { formats } from '#lib/formats/registry.ts'
import { grownFile, readOnlyFormats } from '../bench/support/grown-files.ts'

const TOKENS = 5_000

test('The opening bench grows a file of most formats, because few formats have a writer', () => {
  expect(readOnlyFormats.length).toBeGreaterThan(formats.length / 2)
})

test.each(readOnlyFormats)(
  `An example of %s grows to one trajectory of ${TOKENS} tokens for the opening bench`,
  (format) => {
    expect(grownFile(format, TOKENS).length).toBeGreaterThan(TOKENS)
  },
)

test('grownFile throws for a format without an example', () => {
  expect(() => grownFile('unknown', TOKENS)).toThrow('no file of unknown contains one trajectory that grows')
})
