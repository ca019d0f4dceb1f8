import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type JsonPath, jsonPathText } from '#lib/json/json-path.ts'
import { pathAt, placeOf } from '#lib/json/json-place.ts'
import { readableJson } from '#lib/json/readable-json.ts'
import { runToEnd } from '#lib/tasks/task.ts'
import { decode } from '#lib/trajectory/format/codec.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import {
  lineAt,
  lineCount,
  lineEnd,
  lineStart,
  rowCount,
  rowNumbered,
  textBetween,
  textLines,
  wrapLines,
  wrappedRowAt,
} from '#lib/util/text/text-lines.ts'
import { runs } from '#testing/property-runs.ts'
import { findBytes } from './find-bytes.ts'
import { rawText } from './raw-text.ts'

const EXAMPLES = readdirSync('public/examples').filter((name) => name.endsWith('.json'))

test.each(EXAMPLES)('the raw view keeps %s byte for byte', (name) => {
  const file = readFileSync(`public/examples/${name}`, 'utf8')
  const decoded = decode(file)
  if (!decoded.ok) throw new Error(name)
  const text = runToEnd(rawText(null, pack(decoded.trajectory).trajectory))
  expect(new TextDecoder().decode(text.bytes)).toBe(file)
  expect(lineCount(text)).toBe(file.split('\n').length - 1)
})

const texts = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\n', 'a', '日', '🙂', 'é'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 60,
})

test('the rows of the raw view are the lines, cut at whole characters, none wider than allowed', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 4, max: 12 }), (written, columns) => {
      const text = textLines(written)
      const rows = wrapLines(text, columns)
      let all = ''
      let line = -1
      for (let number = 0; number < rowCount(rows); number++) {
        const row = rowNumbered(text, rows, number)
        if (row.part === 0) {
          if (line >= 0) all += '\n'
          line++
        }
        expect(row.line).toBe(line)
        const part = textBetween(text, row.start, row.end)
        if (!written.includes('\uFFFD')) expect(part).not.toContain('\uFFFD')
        expect([...part].length).toBeLessThanOrEqual(columns)
        all += part
        for (let offset = row.start; offset < row.end; offset++) {
          expect(wrappedRowAt(text, rows, offset)).toBe(number)
          expect(lineAt(text, offset)).toBe(line)
        }
      }
      expect(`${all}\n`).toBe(written.endsWith('\n') ? written : `${written}\n`)
    }),
  )
})

test('findBytes finds a text at its bytes', () => {
  const near = fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'é', '日'), maxLength: 40 })
  const sought = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '日'), minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(near, sought, fc.boolean(), (written, text, isExact) => {
      const needle = isExact ? `${text}A` : text
      const bytes = new TextEncoder().encode(written)
      const inside = isExact ? written : written.replaceAll('A', 'a')
      const expected: number[] = []
      for (let at = inside.indexOf(needle); at >= 0; at = inside.indexOf(needle, at + needle.length)) {
        const start = new TextEncoder().encode(inside.slice(0, at)).length
        expected.push(start, start + new TextEncoder().encode(needle).length)
      }
      expect(Array.from(runToEnd(findBytes(bytes, needle)))).toEqual(expected)
    }),
    { numRuns: runs(500) },
  )
  expect(runToEnd(findBytes(new Uint8Array(9 << 20), 'a'))).toHaveLength(0)
})

function* pathsOf(value: unknown, path: JsonPath = []): Generator<readonly [JsonPath, unknown]> {
  yield [path, value]
  if (typeof value !== 'object' || value === null) return
  const parts = Array.isArray(value) ? value.map((item, i) => [i, item] as const) : Object.entries(value)
  for (const [part, item] of parts) yield* pathsOf(item, [...path, part])
}

test('the raw view finds every value by its path, and its path by its offset', () => {
  const objects = fc.dictionary(fc.string({ maxLength: 12 }), fc.jsonValue({ maxDepth: 4 }), {
    maxKeys: 6,
    noNullPrototype: true,
  })
  fc.assert(
    fc.property(objects, (value) => {
      // The padding makes the text long enough to be written in lines, as in files.
      const whole: unknown = { padding: 'x'.repeat(130), ...value }
      const text = textLines(readableJson(whole as object))
      for (const [path, item] of pathsOf(JSON.parse(JSON.stringify(whole)))) {
        const place = placeOf(text, path)
        expect(place, jsonPathText(path)).toBeDefined()
        if (!place) continue
        expect(JSON.parse(textBetween(text, place.start, place.end))).toEqual(item)
        expect(pathAt(text, place.start)).toEqual(path)
      }
      expect(placeOf(text, ['not there'])).toBeUndefined()
      expect(placeOf(text, ['padding', 0])).toBeUndefined()
    }),
    { numRuns: runs(300) },
  )
})

test('in the raw view a key selects its value, a closing bracket the whole', () => {
  const text = textLines(readableJson({ list: [{ a: [1, 22, 3], b: { c: 'x'.repeat(120) } }], 'odd key': null }))
  const at = (needle: string) => new TextDecoder().decode(text.bytes).indexOf(needle)
  expect(jsonPathText(pathAt(text, at('"a"')))).toBe('list[0].a')
  expect(jsonPathText(pathAt(text, at('22')))).toBe('list[0].a[1]')
  expect(jsonPathText(pathAt(text, at('"c"')))).toBe('list[0].b.c')
  expect(jsonPathText(pathAt(text, lineStart(text, lineCount(text) - 1)))).toBe('')
  expect(jsonPathText(pathAt(text, at('null')))).toBe('["odd key"]')
  const closing = Array.from({ length: lineCount(text) }, (_, line) =>
    textBetween(text, lineStart(text, line), lineEnd(text, line)).trim(),
  )
  expect(jsonPathText(pathAt(text, lineStart(text, closing.lastIndexOf('],'))))).toBe('list')
})
