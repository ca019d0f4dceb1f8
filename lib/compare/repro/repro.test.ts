import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { decode } from '#lib/core/codec.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { loadTokenizerFiles } from '#lib/tokenizer-files/tokenizer-files.ts'
import { compareSides } from '../compare-sides.ts'
import type { As } from '../side.ts'
import { type ReproducedPair, reproOf } from './repro.ts'
import { reproJson } from './repro-json.ts'
import { reproPytest } from './repro-pytest.ts'

const read = (file: string) => readFileSync(`models/tiny-qwen3/${file}`, 'utf8')
const tiny = loadTokenizerFiles('built-in', {
  tokenizerJson: read('tokenizer.json'),
  tokenizerConfigJson: read('tokenizer_config.json'),
  chatTemplateJinja: undefined,
  generationConfigJson: undefined,
})
const decoded = decode(readFileSync('public/examples/retokenization-drift.json', 'utf8'))
if (!decoded.ok) throw new Error('the example cannot be read')
const drifting = decoded.trajectory

function pairOf(as: As, trajectory: Trajectory = drifting): ReproducedPair {
  const given = { trajectory, template: undefined }
  const compared = compareSides(
    { ...given, as: { kind: 'recorded' }, tokenizer: undefined },
    { ...given, as, tokenizer: tiny },
  )
  if (!compared.ok) throw new Error(compared.why)
  return { left: { key: 'a', as: { kind: 'recorded' } }, right: { key: 'a', as }, compared: compared.value }
}

function reproduced(pair: ReproducedPair, drift?: number) {
  const made = reproOf(pair, drift)
  if (!made.ok) throw new Error(made.why)
  return made.value
}

/** Everything that could end a Python string or a docstring. */
const hostile = '"""\'\'\'\\ \\" \r\n\u2028 \u0000 \ud800 {x} %s é 日本 </tool_call>'

describe.each(['text', 'structured', 'raw'] as const)('in %s mode', (kind) => {
  test('the Python file compiles, whatever stands in messages, template and cause', () => {
    const [first, ...rest] = drifting.segments
    if (first?.kind !== 'prompt') throw new Error('no prompt')
    const trajectory: Trajectory = {
      ...drifting,
      segments: [{ ...first, messages: [...first.messages, { role: 'user', content: hostile }] }, ...rest],
    }
    const repro = reproduced(pairOf({ kind }, trajectory), 0)
    const span = repro.drift?.span
    if (!span) throw new Error('it drifts')
    const told = { ...repro, drift: { number: 0, span: { ...span, cause: hostile } }, doubts: [hostile] }
    const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-repro-'))
    try {
      const file = path.join(folder, 'test_drift.py')
      writeFileSync(file, reproPytest(told))
      execFileSync('python3', ['-m', 'py_compile', file], { stdio: 'pipe' })
    } finally {
      rmSync(folder, { recursive: true })
    }
    expect(reproPytest(told)).toContain(`RECORDED = [${repro.recorded.slice(0, 3).join(',')},`)
  })

  test('the JSON has both sides, what was rendered, and the verdict', () => {
    const pair = pairOf({ kind })
    const repro = reproduced(pair, 1)
    const { version, mode, ids, verdict, drift, messages, tokenizer } = JSON.parse(reproJson(repro))
    expect({ version, mode, drift }).toEqual({
      version: 1,
      mode: kind,
      drift: { number: 1, span: repro.report.spans[1] },
    })
    expect(ids).toEqual({ recorded: repro.recorded, again: repro.again })
    expect(ids.recorded).not.toEqual(ids.again)
    expect(verdict).toMatchObject({ severity: repro.report.severity, tokens: repro.report.tokens })
    expect(tokenizer).toEqual({ name: 'built-in', fingerprint: tiny.tokenizer.fingerprint })
    expect(messages === undefined).toBe(kind === 'text')
  })
})

test('numbers of a call keep their spelling', () => {
  const segments = drifting.segments.map((segment) =>
    segment.kind === 'prompt'
      ? segment
      : {
          ...segment,
          toolCalls: segment.toolCalls.map((call) =>
            call.kind === 'parsed' ? { ...call, raw: '{"name": "f", "arguments": {"x": 1.0}}' } : call,
          ),
        },
  )
  const repro = reproduced(pairOf({ kind: 'structured' }, { ...drifting, segments }))
  expect(reproJson(repro)).toContain('{"x": 1.0}')
  expect(reproPytest(repro)).toContain('{\\"x\\": 1.0}')
})

test('the sides may stand the other way round; of two trajectories there is nothing to be made again', () => {
  const { left, right, compared } = pairOf({ kind: 'text' })
  const swapped = { left: right, right: left, compared: { ...compared, left: compared.right, right: compared.left } }
  expect(reproduced(swapped).recorded).toEqual(reproduced({ left, right, compared }).recorded)
  const others: ReproducedPair = { left, right: { key: 'b', as: { kind: 'text' } }, compared }
  expect(reproOf(others, undefined)).toMatchObject({ ok: false, why: expect.stringMatching(/beside itself/) })
})
