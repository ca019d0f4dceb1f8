/**
 * Runs every model family over HTTP, with its real stop ids: two turns of calls, then an answer. The template renders what
 * transformers rendered with the real one (golden/, recorded and checked by `npm run test:peers`).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resultReadings } from '#lib/analysis/health/unread-results.ts'
import { parserNames } from '#lib/parsers/registry.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { segmentStarts, toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { stepsOf } from './test-conversation.ts'
import { families, stopIdsOf, tokenizerOf } from './test-families.ts'
import { readGolden, recordedTemplate, wholeTexts } from './test-golden.ts'
import { type FamilyRun, runFamily } from './test-run.ts'
import { type ScriptedGenerateServer, startScriptedGenerateServer } from './test-server.ts'

let server: ScriptedGenerateServer
beforeAll(async () => {
  server = await startScriptedGenerateServer()
})
afterAll(() => server.close())

/** Parsers of formats whose templates no package ships with their calls: they are variants of others, which have a family. */
const VARIANTS: readonly string[] = [
  ...['deepseek_v41', 'gigachat35', 'step3', 'dots', 'iquest_q1', 'interns1', 'k2_horizon', 'longcat'],
  ...[
    'functiongemma',
    'granite',
    'phi4_mini',
    'olmo3',
    'solar_open2',
    'hunyuan_fenced',
    'step_audio',
    'xlam',
    'hyperclovax',
    'plamo3',
    'inkling',
    'mimo',
    'minicpm3',
    'falcon3',
    'frogboss',
    'granite_20b_fc',
    'grug',
    'zaya',
  ],
]

test('every tool parser has a model family whose run it reads, or is a variant of one that has', () => {
  expect([...new Set(families.map(({ parser }) => parser)), ...VARIANTS].sort()).toEqual(parserNames.toSorted())
})

describe.each(families.map((family) => [family.name, family.parser, family] as const))('%s (%s)', (name, _, family) => {
  const golden = readGolden(name)
  const tokenizer = tokenizerOf(family)
  const calls = stepsOf(family).flatMap((step) => step.calls)
  const runs = new Map<boolean, Promise<FamilyRun>>()
  const run = (stream: boolean): Promise<FamilyRun> => {
    const begun = runs.get(stream) ?? runFamily(family, recordedTemplate(name, golden), golden.replies, server, stream)
    runs.set(stream, begun)
    return begun
  }

  test.each([['plain', false] as const, ['streamed', true] as const])(
    'A %s run reads every call, executes the tools with the arguments that the model wrote, and ends with the answer',
    async (_, stream) => {
      const { trajectory, toolRuns } = await run(stream)
      expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
      expect(toolCallsOf(trajectory).map(({ kind }) => kind)).toEqual(calls.map(() => 'parsed'))
      expect(toolRuns).toEqual(calls.map((call) => [call.name, call.input]))
      expect(toolCallsOf(trajectory).map(({ result }) => result?.text)).toEqual(calls.map(({ result }) => result))
      const problems = trajectory.segments.flatMap(({ problems = [] }) => problems.map(({ kind }) => kind))
      expect(problems).toEqual(family.leavesToolsOut ? ['template'] : [])
    },
  )

  test.each([['plain', false] as const, ['streamed', true] as const])(
    'Every %s reply is recorded with the stop token at its end, and its thinking is found',
    async (_, stream) => {
      const { trajectory } = await run(stream)
      const responses = trajectory.segments.filter((segment) => segment.kind === 'response')
      expect(responses.map(({ ids }) => Array.from(ids))).toEqual(golden.replies.map(tokenizer.encode))
      for (const { ids } of responses) expect(stopIdsOf(family)).toContain(ids.at(-1))
      const thinking = golden.replies.map((reply) => stepsOf(family).some(({ reasoning }) => reply.includes(reasoning)))
      expect(responses.map(({ thinks }) => thinks.length > 0)).toEqual(thinking)
    },
  )

  test('The health check finds every tool result in the prompt after its call', async () => {
    const { trajectory } = await run(false)
    const readings = resultReadings(trajectory, segmentStarts(trajectory))
    expect(readings.map(({ call, isRead }) => [call.result?.text, isRead])).toEqual(
      calls.map(({ result }) => [result, true]),
    )
  })

  if (family.breaks) {
    const { at } = family.breaks
    test('The model reads every tool result, and the trajectory records where the template breaks the continuation', async () => {
      const { trajectory, requests } = await run(false)
      for (const [index, { result }] of calls.entries()) {
        const ids = requests[index === 0 ? 1 : 2] ?? []
        expect(textOf(ids, trajectory.vocab)).toContain(result)
      }
      const checks = trajectory.segments.flatMap((segment) =>
        segment.kind === 'prompt' && segment.derivation?.kind === 'continuation' ? [segment.derivation.check] : [],
      )
      expect(checks.map(({ kind }) => kind)).toEqual(
        [1, 2].map((request) => (at.includes(request) ? 'broken' : 'held')),
      )
    })
    return
  }

  test('The ids of every request are those of the conversation as transformers renders it', async () => {
    const { trajectory, requests } = await run(false)
    const prompts = wholeTexts(golden.prompts)
    expect(requests.map((ids) => textOf(ids, trajectory.vocab))).toEqual(prompts)
    expect(requests).toEqual(prompts.map(tokenizer.encode))
    const continuations = trajectory.segments.flatMap((segment) =>
      segment.kind === 'prompt' && segment.derivation?.kind === 'continuation' ? [segment.derivation] : [],
    )
    expect(continuations).toEqual(
      [1, 2].map(() => ({
        kind: 'continuation',
        closesTurn: family.callsLeaveTurnOpen ?? false,
        check: { kind: 'held' },
      })),
    )
  })
})
