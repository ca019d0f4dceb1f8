/**
 * A group of eight samples of one question, with the token ids of Qwen3: five call `find` and three call `ls`, which decides the
 * rewards. Samples 2 and 5 are identical, and sample 6 is truncated. For journeys and pictures.
 */
import { hermes } from '#lib/parsers/json/hermes.ts'
import { annotations, callIdAt, vocabularyWriter } from '#lib/rollout/record/record.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import {
  FORMAT,
  type ResponseSegment,
  type Segment,
  type Trajectory,
  type VocabEntry,
} from '#lib/trajectory/format/trajectory.ts'
import { randomNumbers } from '#lib/util/random-numbers.ts'
import { qwen } from './large-trajectory.ts'

const END = '<|im_end|>'
const SYSTEM = `You are a careful engineer. Use the tools, then answer with one number and nothing else.

# Tools

You may call one function for each step.
<tools>
{"type": "function", "function": {"name": "bash", "description": "Runs a command in the repository and returns its output.", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}}}
</tools>

For each call, return a JSON object with the name and the arguments within <tool_call></tool_call> tags.`
const QUESTION = 'How many Python files under src/ have more than 100 lines?'
const THINK = '<think>\nI list the Python files with their line counts, then count those above 100.\n</think>\n\n'
const MODULES = [
  'agent',
  'cache',
  'client',
  'codec',
  'config',
  'engine',
  'events',
  'files',
  'graph',
  'index',
  'layout',
  'loop',
  'mask',
  'parse',
  'plan',
  'rank',
  'record',
  'render',
  'retry',
  'route',
  'score',
  'serve',
  'store',
  'table',
  'tests',
  'tokens',
  'tree',
]

interface Sampled {
  readonly command: string
  readonly result: string
  readonly answer: string
  readonly reward: number
  /** Whether the last response stops at its limit of tokens. */
  readonly isTruncated?: true
}

const listing = MODULES.map((name, index) => `  ${40 + ((index * 37) % 190)} src/${name}.py`).join('\n')
const shallow = MODULES.slice(0, 6)
  .map((name) => `src/${name}.py`)
  .join('\n')
const EXEC = 'find src -name "*.py" -exec wc -l {} +'
const PIPED = 'find src -name "*.py" | xargs wc -l | awk \'$1 > 100\' | wc -l'
const recount = MODULES.map((name, index) => `src/${name}.py has ${40 + ((index * 37) % 190)} lines.`).join(' ')
const SAMPLES: readonly Sampled[] = [
  { command: EXEC, result: listing, answer: 'There are **13** Python files with more than 100 lines.', reward: 1 },
  { command: EXEC, result: listing, answer: '13', reward: 1 },
  { command: 'ls src/*.py | wc -l', result: '6', answer: '2', reward: 0.05 },
  {
    command: PIPED,
    result: '14',
    answer: `The last line is the total, so I leave it out. ${recount} That makes 13.`,
    reward: 0.8,
  },
  { command: EXEC, result: listing, answer: '13', reward: 1 },
  {
    command: PIPED,
    result: '14',
    answer: `I check each file again. ${recount} ${recount}`,
    reward: 0.8,
    isTruncated: true,
  },
  { command: 'ls src/*.py', result: shallow, answer: 'Only some of these are long. I count 3.', reward: 0.25 },
  { command: 'ls src/*.py', result: shallow, answer: '5', reward: 0 },
]

/** Returns the samples of the group. */
export function groupTrajectories(id: string): readonly Trajectory[] {
  const tokenizer = qwen()
  return SAMPLES.map((sample, index) => trajectoryOf(tokenizer, sample, id, index))
}

function trajectoryOf(tokenizer: Tokenizer, sample: Sampled, id: string, index: number): Trajectory {
  const newVocabulary = vocabularyWriter({ vocab: {} }, tokenizer)
  const vocab: Record<string, VocabEntry> = {}
  const specialIds: number[] = []
  const segments: Segment[] = []
  const add = (segment: Segment) => {
    const added = newVocabulary([...segment.ids, ...(segment.topLogprobs?.ids ?? [])])
    Object.assign(vocab, added.vocab)
    specialIds.push(...added.specialIds)
    segments.push(segment)
  }
  const trajectory = (): Trajectory => ({
    format: FORMAT,
    id: `${id}-${index + 1}`,
    createdAt: '2026-01-01T00:00:00.000Z',
    title: QUESTION,
    reward: sample.reward,
    group: { id, index },
    model: {
      name: 'Qwen3-4B',
      tokenizer: {
        name: 'Qwen/Qwen3-4B',
        fingerprint: tokenizer.fingerprint,
        vocabularySize: tokenizer.vocabularySize,
        specialIds,
        endOfTurnId: tokenizer.encode(END)[0] as number,
      },
      tools: [
        {
          name: 'bash',
          description: 'Runs a command in the repository and returns its output.',
          inputSchema: { type: 'object', properties: { command: { type: 'string' } } },
        },
      ],
      parser: 'hermes',
    },
    vocab,
    segments,
    outcome: { kind: 'ended', reason: sample.isTruncated ? 'max_tokens' : 'end_turn' },
    provenance: { kind: 'rollout', application: 'Rollscope' },
  })
  const prompt = `<|im_start|>system\n${SYSTEM}${END}\n<|im_start|>user\n${QUESTION}${END}\n<|im_start|>assistant\n`
  add({
    kind: 'prompt',
    ids: tokenizer.encode(prompt),
    messages: [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: QUESTION },
    ],
    derivation: { kind: 'whole' },
  })
  const random = randomNumbers(7)
  const call = `<tool_call>\n${JSON.stringify({ name: 'bash', arguments: { command: sample.command } })}\n</tool_call>${END}`
  const asking = responseOf(tokenizer, THINK + call, random, false)
  add(asking)
  const before = { ...trajectory(), segments: segments.slice(0, -1) }
  const { thinks, toolCalls } = annotations(asking, before, hermes, tokenizer)
  segments[1] = {
    ...asking,
    thinks,
    toolCalls: toolCalls.map((made) => ({
      ...made,
      id: callIdAt(0),
      result: { status: 'success', text: sample.result, elapsedMs: 12 },
    })),
  }
  add({
    kind: 'prompt',
    ids: tokenizer.encode(
      `\n<|im_start|>user\n<tool_response>\n${sample.result}\n</tool_response>${END}\n<|im_start|>assistant\n`,
    ),
    messages: [{ role: 'tool', callId: callIdAt(0) }],
    derivation: { kind: 'continuation', closesTurn: false, check: { kind: 'held' } },
  })
  add(responseOf(tokenizer, `${sample.answer}${sample.isTruncated ? '' : END}`, random, sample.isTruncated === true))
  return trajectory()
}

/** The tokens with which commands begin, and their probabilities at that position. */
const COMMANDS = [
  ['find', 0.618],
  ['ls', 0.312],
  ['grep', 0.034],
  ['cd', 0.019],
] as const

function responseOf(tokenizer: Tokenizer, text: string, random: () => number, isCut: boolean): ResponseSegment {
  const ids = tokenizer.encode(text)
  const others = COMMANDS.map(([word, probability]) => ({
    id: tokenizer.encode(word)[0] as number,
    logprob: Math.fround(Math.log(probability)),
  }))
  const commandAt = ids.findIndex((id, at) => at > 0 && others.slice(0, 2).some((other) => other.id === id))
  const logprobs = ids.map((id, at) =>
    at === commandAt ? (others.find((other) => other.id === id)?.logprob ?? -1) : Math.fround(-0.2 * random() ** 3),
  )
  const k = COMMANDS.length
  const alternatives = ids.flatMap((id, at) =>
    at === commandAt
      ? others
      : [{ id, logprob: logprobs[at] as number }, ...Array(k - 1).fill({ id: -1, logprob: null })],
  )
  return {
    kind: 'response',
    ids,
    logprobs,
    topLogprobs: { k, ids: alternatives.map(({ id }) => id), logprobs: alternatives.map(({ logprob }) => logprob) },
    thinks: [],
    toolCalls: [],
    request: {
      server: 'generated',
      samplingParams: { temperature: 1, max_new_tokens: 4096 },
      inputLength: 0,
      inputHash: '',
      streamed: true,
    },
    finish: isCut ? { kind: 'length' } : { kind: 'stop', matched: ids.at(-1) as number },
  }
}
