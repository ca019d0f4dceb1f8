/**
 * Compares generated templates and the golden files with transformers: the same texts, and errors of the same class at the
 * same line.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import type { RenderInput } from '#lib/templates/chat-template.ts'
import {
  CLOCK,
  members,
  type RenderFailure,
  type RenderOutcome,
  renderGolden,
} from '#lib/templates/golden/test-golden.ts'
import { readJson } from '#lib/templates/jinja/python/json.ts'
import { python, startSession } from '../set-up/python.ts'
import { type GeneratedTemplate, generatedTemplate } from './generated-templates.ts'

const CASES = 2_500
/** The fixed seed has no case with a difference that docs/divergences.md names. Other seeds are tried by hand, with SEED=… */
const seed = Number(process.env.SEED ?? 5)
const interpreter = inject('places').peers.templates

beforeAll(() => {
  vi.useFakeTimers({ now: CLOCK, toFake: ['Date'] })
})
afterAll(() => {
  vi.useRealTimers()
})

test(`${CASES} generated templates render as with transformers (SEED=${seed})`, async () => {
  const theirs = startSession(interpreter, 'templates/render_templates.py')
  const seen = { texts: 0, errors: 0, 'errors in the same words': 0 }
  try {
    const madeWith = await theirs.reply()
    await fc.assert(
      fc.asyncProperty(generatedTemplate(), async (one) => {
        const expected = (await theirs.ask(one)) as RenderOutcome
        const ours = rendered(one)
        expect(comparable(ours)).toEqual(comparable(expected))
        if (typeof expected === 'string') seen.texts += 1
        else {
          seen.errors += 1
          if ((ours as RenderFailure).message === expected.message) seen['errors in the same words'] += 1
        }
      }),
      { numRuns: CASES, seed },
    )
    console.log(`agree with ${String(madeWith)}:`, seen)
    expect(seen.texts).toBeGreaterThan(CASES / 3)
  } finally {
    theirs.end()
  }
})

/** Removes what depends on the limits of recursion and memory, which differ (docs/divergences.md, `limits`). */
const comparable = (outcome: RenderOutcome): unknown => {
  if (typeof outcome === 'string') return outcome
  const { class: name, line } = outcome
  if (name === 'RecursionError') return { class: name }
  return { class: name === 'MemoryError' ? 'BudgetError' : name, line }
}

function rendered({ template, variables, messages, addGenerationPrompt }: GeneratedTemplate): RenderOutcome {
  const input: RenderInput = {
    messages: readJson(messages) as RenderInput['messages'],
    tools: undefined,
    addGenerationPrompt,
    options: members(readJson(variables)),
  }
  return renderGolden({ template, specialTokens: {}, input })
}

test('the golden files of templates equal those that make.py writes', async () => {
  const golden = path.resolve(import.meta.dirname, '..', '..', 'lib', 'templates', 'golden')
  const folder = mkdtempSync(path.join(tmpdir(), 'golden-'))
  try {
    await python(interpreter, path.join(golden, 'make.py'), [folder], null)
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'))
    const kept = (file: string) => readFileSync(path.join(golden, file), 'utf8')
    expect(files.filter((file) => readFileSync(path.join(folder, file), 'utf8') !== kept(file))).toEqual([])
    expect(files.length).toBeGreaterThan(20)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
