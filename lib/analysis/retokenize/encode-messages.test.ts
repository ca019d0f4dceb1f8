/** Tests the encoding of files without ids with the byte tokenizer and small templates. golden.test.ts compares it with transformers. */
import { expect, test } from 'vitest'
import { hermes } from '#lib/parsers/json/hermes.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import { FORMAT, type Message, type Segment, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { encodingOf, isTextOnly, takesTokenizer } from '#lib/trajectory/tokens/texts.ts'
import { toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { callsEndTurns, chatml, looksBack } from '#testing/small-templates.ts'
import { encodeMessages } from './encode-messages.ts'

const ask = (...messages: readonly Message[]): Segment => ({ kind: 'prompt', ids: [], messages })
const user = (content: string): Message => ({ role: 'user', content })
const answer = (message: Record<string, unknown>, more: Partial<Segment> = {}): Segment =>
  ({
    kind: 'response',
    ids: [],
    thinks: [],
    toolCalls: [],
    message: { role: 'assistant', ...message },
    ...more,
  }) as Segment

const texts = (...segments: readonly Segment[]): Trajectory => ({
  format: FORMAT,
  id: 'chat',
  createdAt: '2026-07-04T15:09:08Z',
  model: { name: 'org/model', tools: [] },
  vocab: {},
  segments,
  outcome: { kind: 'ended', reason: 'unknown' },
  provenance: {
    kind: 'import',
    format: 'chat',
    lacked: ['ids'],
    missing: ['ids', 'texts', 'mask', 'logprobs', 'special_tokens'],
  },
})

const encoder = (template: string | undefined) => ({
  tokenizer: byteTokenizer,
  template: () => (template === undefined ? undefined : chatTemplate(template, {})),
  parserOf: () => hermes,
})

function encodeWith(template: string | undefined, trajectory: Trajectory): Trajectory {
  const made = encodeMessages(trajectory, encoder(template))
  if (!made.ok) throw new Error(made.why)
  expect(decode(encode(made.value))).toEqual({ ok: true, trajectory: made.value })
  return made.value
}

/** Draws segments as `(prompt) [response]`; tokens in braces are trained against the kind of their segment, or not trained. */
const picture = ({ segments, vocab }: Trajectory): string =>
  segments
    .map(({ kind, ids, mask }) => {
      const odd = kind === 'prompt' ? 1 : 0
      const drawn = ids.map((id, index) => (mask?.[index] === odd ? `{${textOf([id], vocab)}}` : textOf([id], vocab)))
      return kind === 'prompt' ? `(${drawn.join('')})` : `[${drawn.join('')}]`
    })
    .join(' ')
    .replaceAll('\n', '⏎')

test('messages without ids get those of the chat template, and replies are trained with the end of their turn', () => {
  const made = encodeWith(
    chatml,
    texts(ask(user('Q')), answer({ content: 'A' }), ask(user('R')), answer({ content: 'B' })),
  )
  expect(picture(made)).toBe(
    '(<|im_start|>user⏎Q<|im_end|>⏎<|im_start|>assistant⏎) [A<|im_end|>] ' +
      '(⏎<|im_start|>user⏎R<|im_end|>⏎<|im_start|>assistant⏎) [B<|im_end|>] (⏎)',
  )
  expect(made).toMatchObject({
    id: 'chat',
    model: { name: 'org/model', tokenizer: { name: byteTokenizer.name }, template: { text: chatml }, parser: 'hermes' },
    provenance: {
      missing: ['logprobs'],
      encodedAgain: {
        tokenizer: byteTokenizer.name,
        template: true,
        mask: 'every token of a reply and the token that ends its turn, as the chat template writes them',
      },
    },
  })
  expect(made.segments.some(({ logprobs }) => logprobs)).toBe(false)
  expect([isTextOnly(made), takesTokenizer(made)]).toEqual([false, true])
})

test('a conversation that ends with a question gets the generation prompt', () => {
  expect(picture(encodeWith(chatml, texts(ask(user('Q')))))).toBe(
    '(<|im_start|>user⏎Q<|im_end|>⏎<|im_start|>assistant⏎)',
  )
})

test('a conversation is encoded again with another template or tokenizer, from the messages of the file', () => {
  const file = texts(ask(user('Q')), answer({ content: 'A', usage: 1 }, { finish: { kind: 'length' } }))
  const first = encodeWith(chatml, file)
  expect(encodeWith(callsEndTurns, first)).toEqual(encodeWith(callsEndTurns, file))
  expect(first.segments[1]).toMatchObject({ finish: { kind: 'length' }, message: { content: 'A', usage: 1 } })
})

test('numbers that a trainer added to encoded ids prevent another encoding', () => {
  const made = encodeWith(chatml, texts(ask(user('Q')), answer({ content: 'A' })))
  const segments = made.segments.map((segment) => ({ ...segment, columns: { trainer: segment.ids.map(() => -1) } }))
  expect(takesTokenizer({ ...made, segments })).toBe(false)
})

test('calls in encoded messages have the ids of the file and the spelling of their arguments', () => {
  const call = { id: 'call_x', type: 'function', function: { name: 'add', arguments: '{"a": 1.0}' } }
  const result: Message = { role: 'tool', callId: 'call_x', content: '2' }
  const made = encodeWith(
    callsEndTurns,
    texts(ask(user('Q')), answer({ content: '', tool_calls: [call] }), ask(result), answer({ content: '2.' })),
  )
  expect(toolCallsOf(made)).toMatchObject([{ kind: 'parsed', id: 'call_x', name: 'add' }])
  expect(picture(made)).toContain('{"name": "add", "arguments": {"a": 1.0}}</tool_call>]')
})

test('calls without a text for their arguments, and blocks of Anthropic, are encoded from their values', () => {
  const blocks = [
    { type: 'text', text: 'Hm.' },
    { type: 'tool_use', id: 'x', name: 'add', input: { a: 1 } },
  ]
  const made = encodeWith(callsEndTurns, texts(ask(user('Q')), answer({ content: blocks })))
  expect(picture(made)).toContain('Hm.<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>')
  const functionCall = { name: 'add', arguments: 'not JSON' }
  const legacy = encodeWith(callsEndTurns, texts(ask(user('Q')), answer({ content: '', function_call: functionCall })))
  expect(picture(legacy)).toContain('"arguments": "not JSON"')
})

test('the generation blocks of a chat template are the mask of encoded messages', () => {
  const template = `{%- for m in messages -%}{%- if m.role == 'assistant' -%}{{- 'A: ' -}}{%- generation -%}{{- m.content -}}{%- endgeneration -%}{{- '<|im_end|>' -}}{%- else -%}{{- m.content + '<|im_end|>' -}}{%- endif -%}{%- endfor -%}`
  const made = encodeWith(template, texts(ask(user('Q')), answer({ content: 'hi' })))
  expect(encodingOf(made)?.mask).toBe('the {% generation %} blocks of the chat template')
  expect(made.segments.at(-1)).toMatchObject({ kind: 'response', mask: expect.arrayContaining([0, 1]) })
})

test('a reply with the weight 0 is not trained', () => {
  const made = encodeWith(
    chatml,
    texts(ask(user('Q')), answer({ content: 'A', weight: 0 }), ask(user('R')), answer({ content: 'B', weight: 1 })),
  )
  expect(picture(made)).toContain('[{A}{<|im_end|>}]')
  expect(picture(made)).toContain('[B<|im_end|>]')
  expect(encodingOf(made)?.mask).toMatch(/weight 0$/)
})

test('a reply with the weight 0 is not trained without a chat template either', () => {
  const made = encodeWith(
    undefined,
    texts(ask(user('Q')), answer({ content: 'A', weight: 0 }), ask(user('R')), answer({ content: 'B' })),
  )
  expect(picture(made)).toBe('(Q) [{A}] (R) [B]')
  expect(encodingOf(made)?.mask).toMatch(/without a chat template .*weight 0$/)
})

test('a template that refuses the messages, or does not compile, gives its reason', () => {
  const refused = encodeMessages(
    texts(ask({ role: 'system', content: 'S' }), answer({ content: 'A' })),
    encoder(looksBack),
  )
  expect(refused).toMatchObject({ ok: false, why: expect.stringContaining('no user query found') })
  const broken = encodeMessages(texts(ask(user('Q'))), encoder('{% for %}'))
  expect(broken).toMatchObject({ ok: false, why: expect.stringContaining('TemplateSyntaxError') })
  const empty = encodeMessages(texts(), encoder(chatml))
  expect(empty).toMatchObject({ ok: false, why: expect.stringContaining('at least one message') })
})

test('without a chat template each message is encoded alone, and what has no text is named', () => {
  const made = encodeWith(
    undefined,
    texts(
      ask({ role: 'system', content: [{ type: 'text', text: 'S' }, { type: 'image' }] }, user('Q')),
      answer({ content: 'A', reasoning: 'hm' }),
    ),
  )
  expect(picture(made)).toBe('(SQ) [A]')
  expect(made.model.template).toBeUndefined()
  expect(encodingOf(made)).toMatchObject({
    template: false,
    mask: expect.stringContaining('without a chat template'),
    caveats: [expect.stringContaining('encoded alone'), expect.stringContaining('Reasoning and calls have no tokens')],
  })
  const plain = encodeWith(undefined, texts(ask(user('Q')), answer({ content: 'A' })))
  expect(encodingOf(plain)?.caveats).toHaveLength(1)
})

test('a reply that the template leaves out has no tokens and keeps its message', () => {
  const withoutReplies = `{%- for m in messages -%}{%- if m.role == 'user' -%}{{- m.content -}}{%- endif -%}{%- endfor -%}`
  const made = encodeWith(withoutReplies, texts(ask(user('Q')), answer({ content: 'A' })))
  expect(conversation(made).at(-1)).toEqual({ role: 'assistant', content: 'A' })
  expect(encodingOf(made)?.caveats).toEqual([expect.stringContaining('does not show which tokens are replies')])
})

test('problems of a prompt stay with the trajectory, and responses without a message are left out', () => {
  const problem = { kind: 'file', message: 'odd' }
  const made = encodeWith(
    chatml,
    texts(
      { kind: 'prompt', ids: [], messages: [user('Q')], problems: [problem] },
      { kind: 'response', ids: [], thinks: [], toolCalls: [] },
    ),
  )
  expect(made.problems).toEqual([problem])
  expect(made.segments).toHaveLength(1)
})
