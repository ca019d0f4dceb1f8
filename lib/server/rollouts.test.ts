/** Starting and continuing, with a store and runs as they are, and a server that says what it is told. */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { textOf } from '#lib/core/pieces.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import type { SglangClient } from '#lib/sglang/client.ts'
import { SglangError } from '#lib/sglang/errors.ts'
import { scriptedTokenizer } from '#lib/sglang/scripted-tokenizer.ts'
import { openTrajectoryStore } from '#lib/store/trajectories.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteId, byteTokenizer } from '#lib/tito/byte-tokenizer.ts'
import { chatml } from '#lib/tito/small-templates.ts'
import { Problem } from './problem.ts'
import { continueRollout, startRollout } from './rollouts.ts'
import { createRuns } from './runs.ts'
import type { Services } from './services.ts'

const END = byteId('<|im_end|>')
const never = new AbortController().signal

let folder: string
let all: Services
let isDown: boolean
let modelName: string
let shippedTemplate: string
let toolCallParser: string | undefined
let replies: string[]
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-rollouts-'))
  isDown = false
  modelName = 'm'
  shippedTemplate = chatml
  toolCallParser = undefined
  replies = []
  const generate: SglangClient['generate'] = async function* () {
    if (isDown) throw new SglangError('CONNECT_REFUSED', 'nothing listens')
    const end = { finish: { kind: 'stop', matched: END }, usage: {} } as const
    yield { tokens: { ids: [...byteTokenizer.encode(replies.shift() ?? 'yes'), END] }, problems: [], end }
  }
  const describe = async (delayMs: number) => {
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    return { modelName, contextLength: 4096, toolCallParser }
  }
  all = {
    version: '0',
    store: openTrajectoryStore(folder, { processId: process.pid, isAlive: () => true, now: () => new Date() }),
    runs: createRuns(),
    servers: {
      defaultName: 'fast',
      client: (name: string) => ({
        ...scriptedTokenizer({ tokenizer: byteTokenizer, template: chatTemplate(shippedTemplate, {}) }),
        generate,
        describe: () => describe(name === 'slow' ? 100 : 0),
      }),
    },
    tokenizers: {
      load: async () => ({
        tokenizer: byteTokenizer,
        template: () => chatTemplate(shippedTemplate, {}),
        compile: (text: string) => chatTemplate(text, {}),
        stopIds: [],
      }),
    },
  } as unknown as Services
})
afterEach(() => {
  all.store.close()
  rmSync(folder, { recursive: true })
})

const stored = (key: string) => all.store.get(key) as Trajectory
const questions = ({ segments }: Trajectory) =>
  segments.flatMap((segment) => (segment.kind === 'prompt' ? segment.messages.map(({ content }) => content) : []))
const lastPrompt = ({ segments, vocab }: Trajectory) =>
  textOf(segments.findLast(({ kind }) => kind === 'prompt')?.ids ?? [], vocab)

async function ended(run: Promise<{ readonly rolloutId: string; readonly key: string }>): Promise<string> {
  const { rolloutId, key } = await run
  for await (const _ of all.runs.follow(rolloutId, 0, never));
  return key
}

const began = (request: Partial<Parameters<typeof startRollout>[0]> = {}) =>
  ended(startRollout({ prompt: 'q', tokenizer: 'bytes', ...request }, all, never))

test('two continuations at once lose nothing: the slower one goes on from what the faster one left', async () => {
  const key = await began()
  const slow = ended(continueRollout(key, { prompt: 'to slow', server: 'slow' }, all, never))
  await ended(continueRollout(key, { prompt: 'to fast', server: 'fast' }, all, never))
  await slow
  expect(questions(stored(key))).toEqual(['q', 'to fast', 'to slow'])
})

test('who has not seen all of a trajectory does not continue it unawares', async () => {
  const key = await began()
  const seen = stored(key).segments.length
  await ended(continueRollout(key, { prompt: 'one', seenSegments: seen }, all, never))
  const failure = await continueRollout(key, { prompt: 'two', seenSegments: seen }, all, never).catch((error) => error)
  expect((failure as Problem).details).toMatchObject({ status: 409, code: 'CHANGED' })
  expect(questions(stored(key))).toEqual(['q', 'one'])
})

test('a continuation uses the template that is recorded, not the one that the tokenizer has by now', async () => {
  const key = await began()
  shippedTemplate = chatml.replaceAll('<|im_start|>', '<|im_start|>3')
  await ended(continueRollout(key, { prompt: 'more' }, all, never))
  expect(lastPrompt(stored(key))).toBe('\n<|im_start|>user\nmore<|im_end|>\n<|im_start|>assistant\n')
})

test('the parser is the one named, else the server’s own, else hermes', async () => {
  const parserOf = async (request: Parameters<typeof began>[0] = {}) => stored(await began(request)).model.parser
  expect(await parserOf()).toBe('hermes')
  toolCallParser = 'glm45'
  expect(await parserOf()).toBe('glm')
  expect(await parserOf({ parser: 'kimi_k2' })).toBe('kimi_k2')
  toolCallParser = 'llama3'
  expect(await parserOf()).toBe('hermes')
  const failure = await began({ parser: 'llama3' }).catch((error: unknown) => error)
  expect((failure as Problem).details).toMatchObject({ status: 422, code: 'NO_PARSER' })
})

test('a continuation keeps its parser; one whose calls were not parsed gets that of the server, and says so', async () => {
  const key = await began()
  toolCallParser = 'qwen3_coder'
  await ended(continueRollout(key, { prompt: 'more' }, all, never))
  expect(stored(key).model.parser).toBe('hermes')
  const { parser: _, ...unparsed } = stored(key).model
  const imported = all.store.add({ ...stored(key), model: unparsed })
  await ended(continueRollout(imported, { prompt: 'more' }, all, never))
  expect(stored(imported).model.parser).toBe('qwen_xml')
})

test('a tool that is not there is named before anything starts', async () => {
  const key = await began()
  const foreign = { name: 'web_search', inputSchema: {} }
  all.store.update(key, { ...stored(key), model: { ...stored(key).model, tools: [foreign] } }, 2)
  const failure = await continueRollout(key, { prompt: 'more' }, all, never).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(Problem)
  expect((failure as Problem).details).toMatchObject({ status: 422, code: 'NO_TOOL' })
  expect(stored(key).outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
})

test('after a first call that failed the system prompt is still told', async () => {
  isDown = true
  const key = await began({ system: 'BE BRIEF' })
  expect(stored(key).segments).toEqual([])
  isDown = false
  await ended(continueRollout(key, { prompt: 'again' }, all, never))
  expect(questions(stored(key))).toEqual(['BE BRIEF', 'again'])
})

test('mock tools run, are stored, and run again where the trajectory is continued', async () => {
  const weather = {
    name: 'weather',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
    mock: { reply: { kind: 'templated', template: 'Sunny in {{city}}.' } },
  } as const
  const asks = (city: string) => `<tool_call>{"name": "weather", "arguments": {"city": "${city}"}}</tool_call>`
  replies = [asks('Rome')]
  const key = await began({ tools: [weather] })
  expect(stored(key).model.tools).toEqual([weather])
  expect(lastPrompt(stored(key))).toContain('Sunny in Rome.')
  replies = [asks('Bern')]
  await ended(continueRollout(key, { prompt: 'and there?' }, all, never))
  expect(lastPrompt(stored(key))).toContain('Sunny in Bern.')
})

test('a trajectory that goes on with another model says where, once', async () => {
  const key = await began()
  expect(stored(key)).not.toHaveProperty('problems')
  const before = stored(key).segments.reduce((sum, { ids }) => sum + ids.length, 0)
  modelName = 'n'
  await ended(continueRollout(key, { prompt: 'more' }, all, never))
  expect(stored(key).problems).toEqual([
    { kind: 'model', message: `From token ${before} on the model is n; before it was m.`, raw: 'n' },
  ])
  await ended(continueRollout(key, { prompt: 'and more' }, all, never))
  expect(stored(key).problems).toHaveLength(1)
})
