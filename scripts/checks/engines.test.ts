/**
 * Every cell of the table in docs/engines.md has a test. A cell with “no” is tested here by its refusal. Every other cell names the test
 * that shows it, which must exist.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { ServerCapabilities } from '#lib/api/engine/capabilities.ts'
import { liveViewOf } from '#lib/api/engine/live-view.ts'
import { runRefusals } from '#lib/api/engine/refusals.ts'
import { scoringRefusals } from '#lib/api/engine/scoring-refusals.ts'
import { ENGINE_CAPABILITIES, whyUnsupported } from '#lib/api/engine/unsupported.ts'
import type { EngineName } from '#lib/sampling/engine-names.ts'
import { engineSubject } from '#lib/sampling/engine-names.ts'
import { refusalText } from '#lib/sampling/refusal.ts'
import { CAPABILITY_ROWS, ENGINES } from './engines-document.ts'

type Row = (typeof CAPABILITY_ROWS)[number][0]
/** File of a test, and its title as its source has it. */
type NamedTest = readonly [file: string, title: string]

const LLAMACPP = 'lib/llamacpp/client.test.ts'
const VLLM = 'lib/vllm/client.test.ts'
const SGLANG = 'lib/sglang/client/client.test.ts'
const FOUND: NamedTest = [
  VLLM,
  'that returns ids in every form, prompt logprobs and adapters shows each of these capabilities',
]
const OTHER_RUN: NamedTest = [
  VLLM,
  'gives a run its ids, alternatives, cached tokens and stop token, in OpenAI’s form of a request',
]

/** The tests of the cells that are supported, at least in part. */
const TESTS: Readonly<Partial<Record<Row, Readonly<Partial<Record<EngineName, NamedTest>>>>>> = {
  'ids in, ids out, with the stop token': {
    sglang: [SGLANG, 'client reads ids, logprobs, finish reason and text of the recorded reply %s'],
    'llama.cpp': [LLAMACPP, 'has every id, logprob and alternative, the stop token, and the cached tokens'],
    vllm: [VLLM, 'has every id, logprob and alternative, and the stop token'],
    openai: OTHER_RUN,
  },
  'logprobs of sampled tokens': {
    sglang: [
      'peers/servers/drift.test.ts',
      'prefill logprobs are at temperature 1 for any requested temperature; decode logprobs are scaled by it',
    ],
    'llama.cpp': [LLAMACPP, 'has raw logprobs: the same at temperature 2 as at temperature 0'],
    vllm: [VLLM, 'with processed logprobs is recognized by the bias that they show'],
    openai: FOUND,
  },
  'alternatives for each token': {
    sglang: [SGLANG, 'client aligns prompt logprobs to the end of the prompt, with their alternatives'],
    'llama.cpp': [LLAMACPP, 'has every id, logprob and alternative, the stop token, and the cached tokens'],
    vllm: [VLLM, 'has every id, logprob and alternative, and the stop token'],
    openai: OTHER_RUN,
  },
  'logprobs of prompts, scoring of given ids': {
    sglang: [SGLANG, 'client aligns prompt logprobs to the end of the prompt, with their alternatives'],
    vllm: [VLLM, 'are those of the sent ids, with the most likely alternatives'],
    openai: FOUND,
  },
  'live view': {
    sglang: [SGLANG, 'client reads a stream that is cut into writes of %d bytes like a whole one'],
    vllm: [VLLM, 'is described by its models, its version, and what short requests return'],
    openai: FOUND,
  },
  'cached tokens': {
    sglang: [SGLANG, 'client reads the cached tokens of a reply'],
    'llama.cpp': [LLAMACPP, 'has every id, logprob and alternative, the stop token, and the cached tokens'],
    vllm: [VLLM, 'has the cached tokens if the server reports them'],
    openai: OTHER_RUN,
  },
  'chat baseline': {
    sglang: ['lib/sglang/reply/chat.test.ts', 'the recorded chat answer %s is read'],
    vllm: [VLLM, 'has the ids of prompt and reply, and its reasoning under one name'],
    openai: FOUND,
  },
  images: {
    sglang: ['lib/engine/images.test.ts', 'show how many tokens each image has, whatever the numbers'],
    vllm: [
      'lib/vllm/image-prompts.test.ts',
      'is sent ids with one placeholder for each image, and the images in their order',
    ],
  },
  'LoRA adapters by name': {
    sglang: [
      'lib/sglang/server/server-facts.test.ts',
      'lists the LoRA adapters of a server that was started with some',
    ],
    'llama.cpp': [LLAMACPP, 'is named by its file, and only this adapter is used'],
    vllm: [VLLM, 'is named as the model of a request and of a chat'],
    openai: FOUND,
  },
  'routed experts': {
    sglang: [
      'lib/sglang/reply/mixture.test.ts',
      'returns the experts of every token but the last, which has not been read yet',
    ],
  },
  'the server’s own parsers': {
    sglang: [
      'lib/server/servers/server-parsing.test.ts',
      'Server parsing returns the answers of both parsers under the names of the server, with the lab’s tools',
    ],
  },
  'a stopped run ends the generation': {
    sglang: [SGLANG, 'stopping to read closes the connection'],
    vllm: [VLLM, 'closes its connection when its reader stops, which ends the generation'],
  },
}

/** Why a request that needs the capability of a row is refused, or why its run is served differently. */
const REFUSALS: Readonly<Partial<Record<Row, (capabilities: ServerCapabilities) => string | undefined>>> = {
  'logprobs of prompts, scoring of given ids': (capabilities) =>
    same(scoringRefusals({ capabilities }, {}), runRefusals({ capabilities }, { promptLogprobs: true })),
  'live view': (capabilities) => {
    const view = liveViewOf({ kind: 'server', capabilities }, 1, 0)
    return view.kind === 'none' ? view.why : undefined
  },
  'chat baseline': (capabilities) => text(runRefusals({ capabilities }, { endpoint: 'chat' })),
  images: (capabilities) =>
    same(
      runRefusals({ capabilities }, { images: true }),
      scoringRefusals({ capabilities }, { images: true }).slice(-1),
    ),
  'routed experts': (capabilities) => text(runRefusals({ capabilities }, { routedExperts: true })),
  'the server’s own parsers': (capabilities) => {
    const refusal = whyUnsupported('parsers', capabilities)
    return refusal && refusalText(refusal)
  },
  'a stopped run ends the generation': (capabilities) => {
    const refusal = whyUnsupported('abort', capabilities)
    return refusal && refusalText(refusal)
  },
}

const text = ([first]: ReturnType<typeof runRefusals>): string | undefined => first && refusalText(first)
function same(left: ReturnType<typeof runRefusals>, right: ReturnType<typeof runRefusals>): string | undefined {
  expect(text(left)).toBe(text(right))
  return text(left)
}

/** Returns what is missing for a cell; undefined if a test shows it. */
function gapOf(row: Row, engine: EngineName, tests = TESTS): string | undefined {
  const find = CAPABILITY_ROWS.find(([name]) => name === row)
  if (find?.[1](ENGINE_CAPABILITIES[engine]) === 'no') {
    const reason = REFUSALS[row]?.(ENGINE_CAPABILITIES[engine])
    const isNamed = reason?.startsWith(`${engineSubject(engine)} `) && / Choose .+\.$/.test(reason)
    return isNamed ? undefined : `${row}, ${engine}: no refusal with the name of the engine and a remedy: ${reason}`
  }
  const [file, title] = tests[row]?.[engine] ?? []
  if (file === undefined || title === undefined) return `${row}, ${engine}: no test is named in TESTS`
  return readFileSync(file, 'utf8').includes(`'${title}'`)
    ? undefined
    : `${row}, ${engine}: ${file} has no test “${title}”`
}

test.each(CAPABILITY_ROWS.flatMap(([row]) => ENGINES.map((engine) => [row, engine] as const)))(
  'The cell “%s” of %s in docs/engines.md is shown by a test',
  (row, engine) => {
    expect(gapOf(row, engine)).toBeUndefined()
  },
)

test('A cell without a test, or with the title of no test, is reported', () => {
  const row = 'cached tokens'
  expect(gapOf(row, 'vllm', {})).toMatch(/no test is named/)
  expect(gapOf(row, 'vllm', { [row]: { vllm: [VLLM, 'a title of no test'] } })).toMatch(/has no test/)
})
