/** A trajectory with every kind of text that a token can contain. The token view must show all of it without moving any. */
import { encode } from '#lib/trajectory/format/codec.ts'
import { FORMAT, type Trajectory, type VocabEntry } from '#lib/trajectory/format/trajectory.ts'

const LONG_TOKEN = 'x'.repeat(20_000)

/** Texts by line; the token view draws each of them in one or several lines. */
const LINES: readonly (readonly VocabEntry[])[] = [
  ['plain', ' text', ' of', ' words', '.', '\n'],
  ['日本語', 'の', '文章', '、', '中文', '字符', ' 한국어', '。\n'],
  ['🙂', ' 👨‍👩‍👧', '🇩🇪', '👍🏽', '❤️', ' 👩', '\u200d', '🚀', '\n'],
  ['e\u0301', 'a', '\u0308', 'n\u0303o', ' q̃', '\n'],
  ['שלום', ' עולם', ' ', 'مرحبا', ' بالعالم', ' end', '\n'],
  ['a\tb', '\t', '\r', 'c\r\n'],
  ['zero', '\u200b', 'width', '\u200c', '\ufeff', '\u00ad', ' nbsp\u00a0here', '\n'],
  ['esc', '\u001b[31m', 'bell\u0007', '\u0000', '\u007f', '\u202e', 'bidi', '\n'],
  // 日 consists of three tokens and 🙂 of two; two bytes never become a character.
  [
    'split',
    { hex: 'e6' },
    { hex: '97' },
    { hex: 'a5' },
    ' ',
    { hex: 'f09f' },
    { hex: '9982' },
    ' ',
    { hex: 'ff' },
    { hex: 'c3' },
    '\n',
  ],
  ['many', '\n\n\n', 'line', ' \n \n', 'breaks', '\n'],
  [LONG_TOKEN, '\n'],
  ['', 'empty', '\n'],
]

/** A trajectory file and its tokens. */
export interface TextTrajectory {
  readonly file: string
  /** Vocabulary entry of each token. */
  readonly entries: readonly VocabEntry[]
}

/** Returns the trajectory: all texts as a prompt, then a response with a think block. */
export function everyTextTrajectory(): TextTrajectory {
  const think: readonly VocabEntry[] = [
    '<think>',
    '\n',
    ...Array.from({ length: 60 }, (_, n) => ` thought ${n}`),
    '\n',
    '</think>',
    '\n\n',
  ]
  const prompt = LINES.flat()
  const response: readonly VocabEntry[] = [...think, 'The answer', ' is', ' 日本', '.', '<|im_end|>']
  const entries = [...prompt, ...response]
  const ids = entries.map((_, index) => index + 10)
  const trajectory: Trajectory = {
    format: FORMAT,
    id: 'every-text',
    createdAt: '2026-01-01T00:00:00.000Z',
    title: 'Every kind of text',
    model: { name: 'texts', tokenizer: { name: 'texts', specialIds: [ids.at(-1) as number] }, tools: [] },
    vocab: Object.fromEntries(entries.map((entry, index) => [index + 10, entry])),
    segments: [
      { kind: 'prompt', ids: ids.slice(0, prompt.length), messages: [{ role: 'user', content: 'every kind of text' }] },
      {
        kind: 'response',
        ids: ids.slice(prompt.length),
        logprobs: response.map((_, index) => -((index * 7) % 13) / 4),
        thinks: [{ start: 0, end: think.length - 1, closed: true }],
        toolCalls: [],
        finish: { kind: 'stop', matched: ids.at(-1) as number },
      },
    ],
    outcome: { kind: 'ended', reason: 'end_turn' },
    provenance: { kind: 'recorded', source: 'made for the test' },
  }
  return { file: encode(trajectory), entries }
}
