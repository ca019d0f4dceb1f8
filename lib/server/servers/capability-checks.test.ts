import { expect, test } from 'vitest'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import { problemOf } from '#testing/http-problem.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { checkCapabilities, checkLogprobKind, checkScoring, meaningsOf } from './capability-checks.ts'

const llamacpp = { capabilities: ENGINE_CAPABILITIES['llama.cpp'] }
const sglang = { capabilities: ENGINE_CAPABILITIES.sglang }

test.each([
  [{ sampling: { stop_regex: ['a'] } }, 'sampling.stop_regex'],
  [{ sampling: { further: { new_one: 1 } } }, 'sampling.further.new_one'],
  [{ promptLogprobs: true }, 'promptLogprobs'],
  [{ endpoint: 'chat' }, 'endpoint'],
  [{ routedExperts: true }, 'routedExperts'],
])('A request for %j is refused on llama.cpp by its field, and accepted on SGLang', (request, field) => {
  const problem = problemOf(() => checkCapabilities(llamacpp, request))
  expect(problem).toMatchObject({
    status: 422,
    code: 'NOT_IN_ENGINE',
    field,
    detail: expect.stringMatching(/^llama\.cpp .+\.$/),
    hint: expect.stringMatching(/^(Choose|Remove) .+\.$/),
  })
  expect(problemOf(() => checkCapabilities(sglang, request))).toBeUndefined()
  expect(problemOf(() => checkCapabilities({}, request))).toBeUndefined()
})

test.each([
  [{ capabilities: { ...ENGINE_CAPABILITIES.vllm, mostAlternatives: 20 } }, { topLogprobs: 21 }, 'topLogprobs'],
  [{ capabilities: ENGINE_CAPABILITIES.vllm }, { sampling: { watermark: {} } }, 'sampling.watermark'],
  [{ capabilities: ENGINE_CAPABILITIES.openai }, { sampling: { top_k: 5 } }, 'sampling.top_k'],
  [{ capabilities: ENGINE_CAPABILITIES.openai }, { promptLogprobs: true }, 'promptLogprobs'],
  [{ capabilities: ENGINE_CAPABILITIES.openai }, { endpoint: 'chat' }, 'endpoint'],
])('A request on %j for %j is refused by its field', (server, request, field) => {
  expect(problemOf(() => checkCapabilities(server, request))).toMatchObject({
    status: 422,
    code: 'NOT_IN_ENGINE',
    field,
    detail: expect.stringMatching(/^(vLLM|This OpenAI-compatible server) .+\.$/),
  })
})

test('A request that vLLM can serve is accepted', () => {
  const vllm = { capabilities: { ...ENGINE_CAPABILITIES.vllm, mostAlternatives: 20 } }
  const request = { topLogprobs: 20, promptLogprobs: true, endpoint: 'chat', sampling: { regex: 'a' } }
  expect(problemOf(() => checkCapabilities(vllm, request))).toBeUndefined()
  expect(problemOf(() => checkScoring(vllm))).toBeUndefined()
  expect(problemOf(() => checkScoring({ capabilities: ENGINE_CAPABILITIES.openai }))).toMatchObject({ field: 'server' })
})

test.each([
  ['runs without adapters', { capabilities: { ...ENGINE_CAPABILITIES.sglang, adapters: false } }, 'NOT_IN_ENGINE'],
  ['has other ones', { ...sglang, adapters: ['code'] }, 'NO_ADAPTER'],
  ['has unloaded all of them', { ...sglang, adapters: [] }, 'NO_ADAPTER'],
])('A LoRA adapter is refused by name on a server that %s', (_, server, code) => {
  for (const check of [
    () => checkCapabilities(server, { adapter: 'math' }),
    () => checkScoring(server, { adapters: ['math'] }),
  ])
    expect(problemOf(check)).toMatchObject({ status: 422, code, field: 'adapter' })
  expect(problemOf(() => checkCapabilities(server, {}))).toBeUndefined()
})

test('A LoRA adapter that a server lists, or of which nothing is known, is accepted', () => {
  for (const server of [{ ...sglang, adapters: ['math'] }, sglang, {}])
    expect(problemOf(() => checkCapabilities(server, { adapter: 'math' }))).toBeUndefined()
})

test('A conversation with images is refused, run or scored, on a server whose model or engine reads none', () => {
  const reads = { capabilities: { ...ENGINE_CAPABILITIES.sglang, images: true } }
  for (const server of [{ capabilities: { ...ENGINE_CAPABILITIES.sglang, images: false } }, llamacpp]) {
    expect(problemOf(() => checkCapabilities(server, { images: true }))).toMatchObject({
      status: 422,
      code: 'NOT_IN_ENGINE',
      field: 'images',
      hint: 'Choose a server with SGLang or vLLM and a model that reads images, or remove the images.',
    })
    expect(problemOf(() => checkScoring(server, { images: true }))).toMatchObject({ field: 'server' })
    expect(problemOf(() => checkCapabilities(server, { images: false }))).toBeUndefined()
  }
  expect(problemOf(() => checkCapabilities(reads, { images: true }))).toBeUndefined()
  for (const check of [checkCapabilities, checkScoring])
    expect(problemOf(() => check(reads, { images: true, routedExperts: true }))).toMatchObject({
      field: 'routedExperts',
    })
  expect(problemOf(() => checkScoring(reads, { images: true }))).toBeUndefined()
})

test('Given ids with images are not scored by a server that takes images in messages only', () => {
  const { vllm } = ENGINE_CAPABILITIES
  const inMessages = { capabilities: { ...vllm, imagesInMessages: true } }
  expect(problemOf(() => checkScoring({ capabilities: vllm }, { images: true }))).toBeUndefined()
  expect(problemOf(() => checkCapabilities(inMessages, { images: true }))).toBeUndefined()
  expect(problemOf(() => checkScoring(inMessages))).toBeUndefined()
  expect(problemOf(() => checkScoring(inMessages, { images: true }))).toMatchObject({
    field: 'server',
    detail: 'vLLM takes images in messages only here, so it cannot read given ids with images.',
    hint: expect.stringContaining('--enable-scale-out'),
  })
})

test('Given ids are scored only by servers that return prompt logprobs', () => {
  expect(problemOf(() => checkScoring(llamacpp))).toMatchObject({ field: 'server' })
  expect(problemOf(() => checkScoring(sglang))).toBeUndefined()
})

test('A trajectory of llama.cpp has raw logprobs, and is not continued on a server with processed ones', () => {
  const meanings = meaningsOf(llamacpp)
  expect(meanings.columnMeanings?.logprobs).toMatchObject({ values: 'raw', engine: 'llama.cpp' })
  expect(meaningsOf(sglang)).toEqual({})
  const processed = sampleTrajectory
  const raw = { ...processed, ...meanings }
  expect(problemOf(() => checkLogprobKind(raw, sglang))).toMatchObject({ status: 409, code: 'OTHER_LOGPROBS' })
  expect(problemOf(() => checkLogprobKind(processed, llamacpp))).toMatchObject({ code: 'OTHER_LOGPROBS' })
  expect(problemOf(() => checkLogprobKind(raw, llamacpp))).toBeUndefined()
  expect(problemOf(() => checkLogprobKind(processed, sglang))).toBeUndefined()
  expect(problemOf(() => checkLogprobKind({ ...raw, segments: [] }, sglang))).toBeUndefined()
  expect(problemOf(() => checkLogprobKind(raw, {}))).toBeUndefined()
})
