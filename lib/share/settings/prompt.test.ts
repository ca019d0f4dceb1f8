import { describe, expect, test } from 'vitest'
import { parseConversation } from './conversation-text.ts'
import { currentText, EMPTY_PROMPT } from './prompt-draft.ts'
import { withPrompt } from './prompt-opening.ts'

const read = (value: unknown) => parseConversation(JSON.stringify(value))
const user = { role: 'user', content: 'hi' }

describe('a pasted conversation', () => {
  test('may have the field names of OpenAI or of Rollscope', () => {
    const openai = [
      { role: 'system', content: 's' },
      user,
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'hm',
        tool_calls: [
          { id: 'c', type: 'function', function: { name: 'add', arguments: '{"a": 1}' } },
          { function: { name: 'sub', arguments: { b: 2 } } },
          { function: { name: 'odd', arguments: 'no json' } },
          { name: 'bare' },
        ],
      },
      { role: 'tool', tool_call_id: 'c', content: '1' },
    ]
    const messages = [
      { role: 'system', content: 's' },
      user,
      {
        role: 'assistant',
        content: '',
        reasoning: 'hm',
        toolCalls: [
          { id: 'c', name: 'add', input: { a: 1 } },
          { name: 'sub', input: { b: 2 } },
          { name: 'odd', input: 'no json' },
          { name: 'bare', input: {} },
        ],
      },
      { role: 'tool', callId: 'c', content: '1' },
    ]
    expect(read(openai)).toEqual({ ok: true, messages })
    expect(read({ messages: openai, tools: [] })).toEqual({ ok: true, messages })
    expect(read(messages)).toEqual({ ok: true, messages })
  })

  test.each([
    ['is a list', {}, 'expected a list of messages'],
    ['is not empty', [], 'expected a list of messages'],
    ['has messages only', [user, 3], 'message 2: expected an object'],
    ['has roles', [{ role: 'bot', content: '' }], 'message 1: role'],
    [
      'ends with a message that needs a reply',
      [user, { role: 'assistant', content: 'x' }],
      'it ends with an assistant message',
    ],
    ['has calls with names', [{ role: 'assistant', tool_calls: [7] }, user], 'message 1: toolCalls[0]'],
  ])('is refused unless it %s', (_, value, why) => {
    expect(read(value)).toMatchObject({ ok: false, why: expect.stringContaining(why) })
  })

  test('has images as data URLs, in the notation of OpenAI or of Rollscope, between its texts', () => {
    const image = { type: 'image', image: 'data:image/png;base64,AA==' }
    const text = { type: 'text', text: 'a' }
    const written = [
      { role: 'user', content: [text, { type: 'image_url', image_url: { url: image.image } }, image, 7] },
    ]
    expect(parseConversation(JSON.stringify(written))).toMatchObject({
      ok: false,
      why: expect.stringContaining('message 1'),
    })
    written[0]?.content.pop()
    expect(parseConversation(JSON.stringify(written))).toEqual({
      ok: true,
      messages: [{ role: 'user', content: [text, image, image] }],
    })
  })

  test('is refused unless it is JSON', () => {
    expect(parseConversation('[')).toMatchObject({ ok: false, why: expect.stringContaining('not JSON') })
  })
})

describe('the prompt of the composer', () => {
  const opening = { system: 'S', tools: ['calculator'], parser: 'hermes' }
  const all = { ...EMPTY_PROMPT, question: 'q', conversation: JSON.stringify([user]), text: 't', ids: '1 2' }

  test('begins a run with the system prompt of the setup only if it is a question', () => {
    const begun = (draft: Partial<typeof all>) => withPrompt({ ...all, ...draft }, opening)
    expect(begun({})).toEqual({ ok: true, opening: { ...opening, prompt: 'q' } })
    const { system: _, ...rest } = opening
    const images = ['data:image/png;base64,AA==']
    const shown = (mode: 'question' | 'conversation') => withPrompt({ ...all, mode, images }, opening)
    expect(shown('question')).toEqual({ ok: true, opening: { ...opening, prompt: 'q', images } })
    expect(shown('conversation')).toEqual({ ok: true, opening: { ...rest, messages: [user] } })
    expect(begun({ mode: 'conversation' })).toEqual({ ok: true, opening: { ...rest, messages: [user] } })
    expect(begun({ mode: 'text' })).toEqual({ ok: true, opening: { ...rest, tools: [], text: 't' } })
    expect(begun({ mode: 'ids' })).toEqual({ ok: true, opening: { ...rest, tools: [], ids: [1, 2] } })
    expect(begun({ mode: 'ids', runsTools: true, ids: '{"input_ids": [3], "text": "x"}' })).toEqual({
      ok: true,
      opening: { ...rest, ids: [3], text: 'x' },
    })
  })

  test('is refused with a reason if it cannot be read', () => {
    expect(withPrompt({ ...all, mode: 'conversation', conversation: '[]' }, opening)).toMatchObject({ ok: false })
    expect(withPrompt({ ...all, mode: 'ids', ids: '1 x' }, opening)).toMatchObject({
      ok: false,
      why: 'The ids cannot be sent: expected a token id, found x (character 3).',
    })
  })

  test('has a text of its own for each mode', () => {
    expect(currentText(all)).toBe('q')
    expect(currentText({ ...all, mode: 'ids' })).toBe('1 2')
  })
})
