import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import { trajectorySchema } from '#lib/trajectory/format/trajectory.ts'
import { documents } from './format-documents.ts'

test.each(Object.entries(documents()))('%s is what the schema says: npm run format-documents', (file, text) => {
  expect(readFileSync(file, 'utf8')).toBe(text)
})

test('every field of the format is described', () => {
  const text = documents()['docs/trajectory-format.md'] ?? ''
  for (const field of Object.keys(trajectorySchema.shape)) expect(text).toContain(`| \`${field}\` |`)
  expect(text.length).toBeGreaterThan(10_000)
})

const examples = readdirSync('public/examples').filter((file) => file.endsWith('.json'))

test.each(examples)('example %s opens, and writes as it was', (file) => {
  const text = readFileSync(`public/examples/${file}`, 'utf8')
  const opened = decode(text)
  expect(opened.ok && encode(opened.trajectory)).toBe(text)
})
