/**
 * Compares Rollscope with strands-sglang: both run against the same scripted server, with the same tools, tokenizers and
 * templates. Both send the same ids turn by turn and record the same mask and logprobs, except for the divergences in
 * docs/divergences.md.
 */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { health } from '#lib/analysis/health/health.ts'
import { resultReadings } from '#lib/analysis/health/unread-results.ts'
import { expectedRecord, joinSegments, splitRecord } from '#lib/rollout/golden/test-divergences.ts'
import { createPlayer, type Played, type Player, textOfIds } from '#lib/rollout/golden/test-play.ts'
import {
  type AgentRecord,
  goldenNames,
  pythonRecord,
  type Scenario,
  script,
} from '#lib/rollout/golden/test-scenarios.ts'
import { runToEnd } from '#lib/tasks/task.ts'
import { segmentStarts } from '#lib/trajectory/tokens/tokens.ts'

let player: Player
beforeAll(async () => {
  player = await createPlayer()
})
afterAll(() => player.close())

const agreeing = script.scenarios.filter(({ diverges }) => diverges === undefined)
const diverging = script.scenarios.filter(({ diverges }) => diverges !== undefined)

describe('Rollscope records what Python records:', () => {
  test.each(agreeing.map((scenario) => [scenario.name, scenario] as const))('%s', async (_, scenario) => {
    expect(scenario.rollscope).toBeUndefined()
    expect(recordOf(await player.play(scenario))).toEqual(expected(scenario))
  })
})

describe('Rollscope differs from Python as docs/divergences.md says:', () => {
  test.each(diverging.map((scenario) => [scenario.name, scenario] as const))('%s', async (_, scenario) => {
    const ours = await player.play(scenario)
    const { goesOn } = scenario.rollscope ?? {}
    if (goesOn === undefined) {
      expect(recordOf(ours)).toEqual(expected(scenario))
      expect(expected(scenario)).not.toEqual(expected({ ...scenario, diverges: [], rollscope: {} }))
      return
    }
    const whole = recordOf(ours)
    const theirs = expected(scenario)
    expect(upTo(theirs, whole)).toEqual(theirs)
    const next = whole.requests[theirs.requests.length]?.inputIds.slice(theirs.tokenIds.length) ?? []
    expect(textOfIds(next, player.promptEncoder(scenario).tokenizer)).toContain(goesOn)
  })
})

test('every request equals strands-sglang’s except for three added fields', async () => {
  const scenario = script.scenarios.find(({ sampling }) => sampling !== undefined) as Scenario
  const { samplingParams, fields } = await player.play(scenario)
  expect(samplingParams).toEqual({
    ...pythonRecord(scenario.name).samplingParams,
    no_stop_trim: true,
    spaces_between_special_tokens: false,
  })
  expect(fields.toSorted()).toEqual([
    'input_ids',
    'logprob_start_len',
    'return_logprob',
    'rid',
    'sampling_params',
    'stream',
  ])
})

test('a template that leaves the tools out is reported, while Python reports nothing', async () => {
  const problemKinds = async (name: string) => {
    const { trajectory } = await player.play(script.scenarios.find((scenario) => scenario.name === name) as Scenario)
    return trajectory.segments.flatMap(({ problems = [] }) => problems.map(({ kind }) => kind))
  }
  expect(await problemKinds('deepseek: tools that the template does not print, several turns')).toEqual(['template'])
  expect(await problemKinds('several turns with tools')).toEqual([])
})

test('The health check finds no unread tool result and no contradictory ending in any scenario', async () => {
  const kinds = ['result-not-read', 'finish-contradiction']
  const found: (readonly [scenario: string, message: string])[] = []
  let results = 0
  for (const scenario of script.scenarios) {
    const { trajectory } = await player.play(scenario)
    results += resultReadings(trajectory, segmentStarts(trajectory)).length
    for (const { kind, message } of runToEnd(health(trajectory)).findings)
      if (kinds.includes(kind)) found.push([scenario.name, message])
  }
  expect(found).toEqual([])
  expect(results).toBeGreaterThanOrEqual(100)
})

describe('the golden scenarios', () => {
  test('equal those of golden.json', () => {
    expect(goldenNames).toEqual(script.scenarios.map(({ name }) => name))
  })

  test('are many and of many kinds', () => {
    expect(agreeing.length).toBeGreaterThanOrEqual(40)
    expect(new Set(agreeing.map(({ tokenizer }) => tokenizer)).size).toBeGreaterThanOrEqual(4)
    for (const name of ['hermes', 'qwen_xml', 'glm', 'kimi_k2'])
      expect([name, agreeing.filter(({ parser = 'hermes' }) => parser === name).length >= 4]).toEqual([name, true])
    expect(agreeing.filter(({ questions }) => questions.length > 1).length).toBeGreaterThanOrEqual(8)
  })

  test('show every divergence of docs/divergences.md, and no other', () => {
    const table = readFileSync('docs/divergences.md', 'utf8').split('## Agent loop')[1]?.split('\n## ')[0] ?? ''
    const listed = Array.from(table.matchAll(/^\| `([a-z-]+)` \|/gm), ([, name]) => name)
    expect(new Set(diverging.flatMap(({ diverges = [] }) => diverges))).toEqual(new Set(listed))
  })

  test('a golden record that is taken apart and put together is unchanged', () => {
    for (const name of goldenNames) {
      const { samplingParams: _, toolRuns: __, outcomes: ___, ...python } = pythonRecord(name)
      expect([name, joinSegments(splitRecord(pythonRecord(name)))]).toEqual([name, python])
    }
  })
})

const recordOf = ({ trajectory: _, fields: __, samplingParams: ___, ...record }: Played): Compared => record
type Compared = Omit<AgentRecord, 'samplingParams'>

function expected(scenario: Scenario): Compared {
  const { samplingParams: _, ...record } = expectedRecord(
    pythonRecord(scenario.name),
    scenario,
    player.promptEncoder(scenario),
  )
  return record
}

/** Returns the part of a record that another record also has; tool runs and outcomes are those of the whole run. */
const upTo = (part: Compared, { requests, tokenIds, lossMask, logprobs, segments, ...rest }: Compared): Compared => ({
  requests: requests.slice(0, part.requests.length),
  tokenIds: tokenIds.slice(0, part.tokenIds.length),
  lossMask: lossMask.slice(0, part.tokenIds.length),
  logprobs: logprobs.slice(0, part.tokenIds.length),
  segments: segments.slice(0, part.segments.length),
  ...rest,
})
