import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import { trajectorySchema } from '#lib/trajectory/format/trajectory.ts'
import { documents } from './format-documents.ts'

test.each(Object.entries(documents()))(
  '%s equals the code that it comes from: npm run format-documents',
  (file, text) => {
    expect(readFileSync(file, 'utf8')).toBe(text)
  },
)

/** Number of fields without a description, such as `name` and `kind`. It may only become smaller. */
const MOST_UNDESCRIBED = 50

test('Fields of the trajectory format have a description', () => {
  const text = documents()['docs/trajectory-format.md'] ?? ''
  for (const field of Object.keys(trajectorySchema.shape)) expect(text).toContain(`| \`${field}\` |`)
  const undescribed = Array.from(text.matchAll(/^\| `(\w+)` \| .+ \| (?:yes|no) \| {2}\|$/gm), ([, name]) => name)
  expect(undescribed.length, undescribed.join(', ')).toBeLessThanOrEqual(MOST_UNDESCRIBED)
})

test('the example of docs/trajectory-format.md opens', () => {
  const [, example = ''] = /^```json\n([\s\S]+?)\n```$/m.exec(documents()['docs/trajectory-format.md'] ?? '') ?? []
  expect(decode(example)).toMatchObject({ ok: true })
})

const examples = readdirSync('public/examples').filter((file) => file.endsWith('.json'))

test.each(examples)('example %s opens, and is written unchanged', (file) => {
  const text = readFileSync(`public/examples/${file}`, 'utf8')
  const opened = decode(text)
  expect(opened.ok && encode(opened.trajectory)).toBe(text)
})
