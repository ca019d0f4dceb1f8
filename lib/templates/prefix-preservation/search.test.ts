import { execFileSync } from 'node:child_process'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LabTokenizer } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { runs } from '#testing/property-runs.ts'
import { looksBack } from '#testing/small-templates.ts'
import { compareTurn } from './compare.ts'
import { plans, turnOf } from './conversations.ts'
import { readTemplateUnderTest } from './doctor.ts'
import { messageForm, thinkingOf } from './facts.ts'
import { messagesJson, templateMessages } from './fix/script.ts'
import { writingOf } from './fix/writing.ts'
import { type CounterexampleSearch, type SearchProgress, type SearchResult, searchCounterexample } from './search.ts'
import { alias, dropsSystem, reorders, steady, strips, trims } from './test-templates.ts'

const bytes: LabTokenizer = { tokenizer: byteTokenizer, compile: (text) => chatTemplate(text, {}) }

function searched(template: string, request: Partial<CounterexampleSearch> = {}) {
  const progress: SearchProgress[] = []
  const steps = searchCounterexample({ input: { template }, seed: 1, cases: 300, known: [], ...request }, bytes)
  for (;;) {
    const step = steps.next()
    if (step.done) return { progress, result: step.value }
    progress.push(step.value)
  }
}

const found = (result: SearchResult) => {
  if (result.kind !== 'found') throw new Error(`the search ended with ${result.kind}`)
  return result.counterexample
}
const messagesIn = (result: SearchResult): readonly Readonly<Record<string, unknown>>[] =>
  JSON.parse(found(result).messages)

describe('the smallest conversation that breaks a template', () => {
  test('with stripped thinking has one thought and a message after it', () => {
    const { result } = searched(strips)
    expect(found(result).finding.cause.kind).toBe('thinking-stripped')
    expect(messagesIn(result)).toEqual([
      { role: 'user', content: '' },
      { role: 'assistant', reasoning_content: 'a', content: '' },
      { role: 'user', content: '' },
    ])
  })

  test('with trimmed contents has one character of whitespace', () => {
    const { result } = searched(trims)
    expect(found(result).finding.cause.kind).toBe('whitespace')
    expect(messagesIn(result)).toEqual([
      { role: 'user', content: '' },
      { role: 'assistant', content: expect.stringMatching(/^\s$/) },
      { role: 'user', content: '' },
    ])
  })

  test('with another end of turn has one reply', () => {
    const { result } = searched(alias)
    expect(found(result).finding.cause.kind).toBe('end-of-turn')
    expect(messagesIn(result)).toHaveLength(3)
  })
})

test('messages of a counterexample show the numbers in arguments as they were written', () => {
  const call = { id: 'c', name: 'f', arguments: '{"a": 1.0, "b": 1e-7, "c": [12345678901234567890]}' }
  const reply = { role: 'assistant', thinking: undefined, content: '"\u0000', calls: [call] } as const
  const json = messagesJson([reply], { thinkingFields: [], thinking: undefined, calls: 'object' })
  expect(json).toContain('"arguments":{"a": 1.0, "b": 1e-7, "c": [12345678901234567890]}')
  expect(JSON.parse(json)[0].content).toBe('"\u0000')
})

describe('a search for counterexamples', () => {
  test('of a stable template finds nothing and reports how many conversations it tried', () => {
    const { progress, result } = searched(steady)
    expect(result).toEqual({ kind: 'none', seed: 1, tried: 300 })
    expect(progress.map(({ tried }) => tried)).toEqual([...progress.map(({ tried }) => tried)].sort((a, b) => a - b))
    expect(progress.length).toBeGreaterThan(10)
  })

  test('with the same seed has the same result, and it skips known causes', () => {
    expect(searched(looksBack).result).toEqual(searched(looksBack).result)
    const first = found(searched(looksBack).result).finding.cause.kind
    const second = searched(looksBack, { known: [first] }).result
    expect(second.kind === 'found' ? second.counterexample.finding.cause.kind : undefined).not.toBe(first)
  })

  test('reports the smallest counterexample so far', () => {
    const { progress } = searched(strips)
    expect(progress.at(-1)?.smallest?.finding.cause.kind).toBe('thinking-stripped')
  })

  test('of an invalid template reports the error', () => {
    expect(searched('{% if %}').result).toMatchObject({ kind: 'failed', failure: { where: 'template' } })
  })
})

describe('a comparison has no difference if and only if the ids are the same:', () => {
  test.each([
    ['steady', steady],
    ['strips', strips],
    ['trims', trims],
    ['alias', alias],
    ['reorders', reorders],
    ['dropsSystem', dropsSystem],
    ['looksBack', looksBack],
  ])('template %s', (_, template) => {
    const read = readTemplateUnderTest({ template }, bytes)
    if (!read.ok) throw new Error(read.error.message)
    const { subject, settings } = read.value
    const state = thinkingOf(subject)
    const form = { ...messageForm(settings.facts), thinking: state.delimiters }
    void fc.assert(
      fc.property(plans, (plan) => {
        const turn = turnOf(plan, { facts: settings.facts, state, toolName: 'f' })
        const trained = { subject, facts: settings.facts, delimiters: state.delimiters }
        const compared = compareTurn(turn, subject, trained, writingOf(turn, trained))
        if (compared.kind !== 'compared') return
        const render = (messages: typeof turn.history) =>
          chatTemplate(template, {}).render({
            messages: templateMessages(messages, form),
            tools: subject.tools,
            addGenerationPrompt: true,
            options: {},
          })
        const { expected, tokenIndex } = compared.comparison
        // These texts are cut from the expected text and encoded once more.
        const prompt = render(turn.history)
        expect(expected.text.startsWith(prompt)).toBe(true)
        const end = expected.regions().find(({ kind }) => kind === 'end')?.end ?? 0
        const direct = [prompt, expected.text.slice(prompt.length, end), expected.text.slice(end)].flatMap((text) =>
          byteTokenizer.encode(text),
        )
        const whole = byteTokenizer.encode(render([...turn.history, turn.reply, ...turn.added]))
        expect(tokenIndex === undefined).toBe(JSON.stringify(direct) === JSON.stringify(whole))
        if (tokenIndex !== undefined) {
          expect(direct.slice(0, tokenIndex)).toEqual(whole.slice(0, tokenIndex))
          expect(direct[tokenIndex]).not.toBe(whole[tokenIndex])
        }
      }),
      { numRuns: runs(60) },
    )
  })
})

test('the reproduction of a counterexample is valid Python', () => {
  const script = found(searched(strips).result).reproduction
  expect(script).toContain('def test_')
  const parses = 'import ast, sys; ast.parse(sys.stdin.read())'
  expect(() => execFileSync('python3', ['-c', parses], { input: script, stdio: 'pipe' })).not.toThrow()
})
