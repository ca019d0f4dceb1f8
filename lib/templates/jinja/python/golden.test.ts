/** Compares values, JSON and times with those of CPython and transformers, which golden/make.py records. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { JsonError } from '#lib/json/json-reader.ts'
import { LocatedError } from '../syntax/syntax.ts'
import { compileTemplate } from '../template.ts'
import { readJson } from './json.ts'
import { repr } from './operators.ts'
import { testRuntime } from './test-runtime.ts'
import { strftime } from './text/strftime.ts'
import type { Value } from './values.ts'

interface Cases {
  readonly expressions: readonly (readonly [string, unknown])[]
  /** A template, the value of `x` as JSON, and the expected result. */
  readonly data: readonly (readonly [string, string, unknown])[]
  readonly json: readonly (readonly [string, unknown])[]
  readonly times: readonly (readonly [string, readonly (readonly [string, string])[]])[]
}

const cases = JSON.parse(readFileSync(path.join(import.meta.dirname, 'golden/cases.json'), 'utf8')) as Cases

/** Returns the cases in which `ours` differs from Python, as a table of both. */
function differing<T>(rows: readonly (readonly [string, T])[], ours: (text: string) => unknown): unknown[] {
  return rows
    .map(([text, python]) => ({ text, python, ours: ours(text) }))
    .filter((row) => JSON.stringify(row.ours) !== JSON.stringify(row.python))
}

function rendered(text: string, variables: ReadonlyMap<string, Value>): unknown {
  try {
    return compileTemplate(text).render(variables)
  } catch (error) {
    if (!(error instanceof LocatedError)) throw error
    return { class: error.className, message: error.message }
  }
}

describe('template values, compared with Python:', () => {
  test('expressions print the same text or fail with the same message', () => {
    const variables = new Map<string, Value>([
      ['inf', readJson('Infinity')],
      ['nan', readJson('NaN')],
    ])
    expect(cases.expressions.length).toBeGreaterThan(1_000)
    expect(differing(cases.expressions, (text) => rendered(text, variables))).toEqual([])
  })

  test('nested data prints the same text', () => {
    const wrong = cases.data.flatMap(([text, json, python]) =>
      differing([[text, python]], () => rendered(text, new Map([['x', readJson(json)]]))),
    )
    expect(wrong).toEqual([])
  })

  test('JSON is read to the same values, and its errors have the same position', () => {
    const ours = (text: string): unknown => {
      try {
        return repr(readJson(text), testRuntime)
      } catch (error) {
        if (!(error instanceof JsonError)) throw error
        return { message: error.message, line: error.line, column: error.column }
      }
    }
    expect(differing(cases.json, ours)).toEqual([])
  })

  test.each(cases.times)('strftime writes the time %s in the same way', (moment, rows) => {
    expect(differing(rows, (format) => strftime(new Date(moment), format))).toEqual([])
  })
})
