import { describe, expect, test } from 'vitest'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { causeOf, type DifferenceCase, locateFirstDifference, type MessageParts } from './cause.ts'
import { type Region, regionsOf, renderParts } from './compare.ts'
import type { DifferenceCause } from './report.ts'

const question: MessageParts = { role: 'user', content: 'Why?', thinking: undefined, callNames: [] }
const reply: MessageParts = { role: 'assistant', content: 'So.', thinking: undefined, callNames: [] }
const next: MessageParts = { role: 'user', content: 'And?', thinking: undefined, callNames: [] }

/** Turn n as regions, compared with turn n+1 as the texts of its messages (undefined: outside of all messages). */
function causeBetween(
  turn: readonly (readonly [Region, string])[],
  rendered: readonly (readonly [number | undefined, string])[],
  known: Partial<Pick<DifferenceCase, 'messages' | 'replyIndex' | 'tags' | 'endOfTurn'>> = {},
): DifferenceCause {
  const side = renderParts(byteTokenizer, [rendered.map(([, text]) => text).join('')])
  const expected = renderParts(
    byteTokenizer,
    turn.map(([, text]) => text),
  )
  let end = 0
  const pieces = rendered.map(([message, text]) => {
    const start = end
    end += text.length
    return { start, end, line: 1, message, source: 'template' as const }
  })
  const tokenIndex = expected.ids.findIndex((id, index) => id !== side.ids[index])
  const comparison = {
    expected: { ...expected, regions: () => regionsOf(turn.map(([kind, text]) => ({ kind, text }))) },
    rendered: { ...side, rendering: { text: side.text, pieces, generation: [], hasGenerationTag: false } },
    before: undefined,
    tokenIndex,
    textDiffers: expected.text !== side.text,
  }
  const subject = {
    comparison,
    messages: [question, reply, next],
    replyIndex: 1,
    tags: { open: '<think>', close: '</think>' },
    endOfTurn: '<|im_end|>',
    addedTokens: byteTokenizer.addedTokens,
    ...known,
  }
  return causeOf(subject, locateFirstDifference(comparison, tokenIndex))
}

/** Turn n, whose parts may be replaced. */
const turn = (changed: Partial<Record<Region, string>> = {}): readonly (readonly [Region, string])[] => {
  const parts = {
    history: 'Why?',
    prompt: '\n#',
    thinking: '',
    content: 'So.',
    calls: '',
    end: '<|im_end|>',
    added: 'And?',
  }
  return Object.entries({ ...parts, ...changed }) as [Region, string][]
}

describe('the cause of a difference in the thinking of a reply', () => {
  const thinks = { ...reply, thinking: 'Hm, well' }
  const wrote = turn({ thinking: '<think>Hm, well</think>' })

  test('is another spelling if the thinking is printed elsewhere in the reply', () => {
    const rendered = [
      [0, 'Why?\n#'],
      [1, '<think>Hm! Hm, well</think>So.<|im_end|>'],
      [2, 'And?'],
    ] as const
    expect(causeBetween(wrote, rendered, { messages: [question, thinks, next] })).toEqual({
      kind: 'content-rewritten',
      text: 'The template writes the thinking differently than the model did.',
    })
  })

  test('is thinking that the template does not print if the conversation ends with the reply', () => {
    const rendered = [
      [0, 'Why?\n#'],
      [1, 'So.<|im_end|>'],
    ] as const
    expect(causeBetween(wrote, rendered, { messages: [question, thinks] })).toEqual({
      kind: 'thinking-stripped',
      text: 'The template does not print the thinking of the reply.',
    })
  })

  test('is an empty block that the template removes from an earlier reply', () => {
    const history = turn({ history: 'Why?<think></think>So.<|im_end|>Why?' })
    const rendered = [
      [0, 'Why?'],
      [1, 'So.<|im_end|>'],
      [2, 'Why?\n#'],
      [3, 'So.<|im_end|>'],
    ] as const
    expect(causeBetween(history, rendered, { messages: [question, reply, question, reply], replyIndex: 3 })).toEqual({
      kind: 'empty-think-dropped',
      text: 'The template removes an empty think block from an earlier reply.',
    })
  })

  test('is an empty block that the template writes before a reply without thinking', () => {
    const rendered = [
      [0, 'Why?\n#'],
      [1, '<think></think>So.<|im_end|>'],
      [2, 'And?'],
    ] as const
    expect(causeBetween(turn(), rendered)).toEqual({
      kind: 'empty-think-inserted',
      text: 'The template puts an empty think block before a reply that has none.',
    })
  })

  test('is not looked for in delimiters that are no tags', () => {
    const rendered = [
      [0, 'Why?\n#'],
      [1, 'thinkdoneSo.<|im_end|>'],
      [2, 'And?'],
    ] as const
    expect(causeBetween(turn(), rendered, { tags: { open: 'think', close: 'done' } }).kind).toBe('content-rewritten')
  })

  test('is found in an earlier reply also if no message is known to have written the text', () => {
    const history = turn({ history: 'Why?<think>Hm, well</think>So.<|im_end|>Why?' })
    const rendered = [[undefined, 'Why?So.<|im_end|>Why?\n#So.<|im_end|>']] as const
    expect(causeBetween(history, rendered, { messages: [question, thinks, question, reply], replyIndex: 3 })).toEqual({
      kind: 'thinking-stripped',
      text: 'The template drops the thinking of an earlier reply, which it wrote in turn n.',
    })
  })
})

describe('the cause of a difference in the content of a reply', () => {
  test('is content that is not printed as a whole', () => {
    const rendered = [
      [0, 'Why?\n#'],
      [1, 'S<|im_end|>'],
      [2, 'And?'],
    ] as const
    expect(causeBetween(turn(), rendered)).toEqual({
      kind: 'content-dropped',
      text: 'The template does not print all of the content of the reply.',
    })
  })

  test('is whitespace that the template drops or adds', () => {
    const shorter = [
      [0, 'Why?\n#'],
      [1, 'So.<|im_end|>'],
      [2, 'And?'],
    ] as const
    expect(causeBetween(turn({ content: 'So. ' }), shorter).text).toBe('The template drops whitespace: " " became "".')
    const longer = [
      [0, 'Why?\n#'],
      [1, 'So.\n<|im_end|>'],
      [2, 'And?'],
    ] as const
    expect(causeBetween(turn(), longer).text).toBe('The template adds newline: "" became "\\n".')
  })
})

describe('the cause of a difference in calls', () => {
  const calls = { ...reply, callNames: ['add'] }
  const wrote = turn({ content: '', calls: '{"add": 1}' })

  test('is another spelling also if only spaces differ', () => {
    const rendered = [
      [0, 'Why?\n#'],
      [1, '{"add":1}<|im_end|>'],
      [2, 'And?'],
    ] as const
    expect(causeBetween(wrote, rendered, { messages: [question, calls, next] }).kind).toBe('call-reserialised')
  })

  test('is a call that the template does not print', () => {
    const rendered = [
      [0, 'Why?\n#'],
      [1, '?<|im_end|>'],
      [2, 'And?'],
    ] as const
    expect(causeBetween(wrote, rendered, { messages: [question, calls, next] }).kind).toBe('call-dropped')
  })
})

describe('the cause of a difference at the end of a turn', () => {
  const rest = [2, 'And?'] as const

  test('is a token that is missing, or another one', () => {
    const missing = causeBetween(turn(), [[0, 'Why?\n#'], [1, 'So.'], rest])
    expect(missing.text).toBe('The template leaves out the <|im_end|> with which the model ended its turn.')
    const other = causeBetween(turn(), [[0, 'Why?\n#'], [1, 'So.<|endoftext|>'], rest])
    expect(other.text).toBe(
      'The model ends its turn with <|im_end|>, and the template writes <|endoftext|> there once something follows.',
    )
  })

  test('is a token that the template writes twice', () => {
    expect(causeBetween(turn(), [[0, 'Why?\n#'], [1, 'So.<|im_end|><|im_end|>'], rest]).text).toBe(
      'The template ends the turn twice with <|im_end|>.',
    )
  })

  test('is new text if the model ended its turn without a token', () => {
    expect(causeBetween(turn({ end: '.' }), [[0, 'Why?\n#'], [1, 'So.!'], rest]).kind).toBe('new-messages-rewritten')
  })
})

describe('the cause of a difference in the history', () => {
  const rest = [1, '\n#So.<|im_end|>'] as const

  test('names the message that is written differently, or the text before the reply', () => {
    expect(causeBetween(turn(), [[0, 'Why!'], rest]).text).toBe(
      'The template writes message 1 (user) differently than in turn n.',
    )
    expect(causeBetween(turn({ history: 'Why?.' }), [[0, 'Why?'], [undefined, ','], rest]).text).toBe(
      'The template writes the text before the reply differently than in turn n.',
    )
  })

  test('is a system message that comes later and is written first', () => {
    const late = { ...next, role: 'developer', content: 'Stop.' }
    expect(causeBetween(turn(), [[2, 'Stop.'], [0, 'Why?'], rest], { messages: [question, reply, late] }).text).toBe(
      'The template moves a later system message to the start of the conversation.',
    )
  })

  test('is a generation prompt if the text of the reply begins earlier than in turn n', () => {
    expect(
      causeBetween(turn({ history: 'Why?a' }), [
        [0, 'Why?'],
        [1, 'b\n#So.<|im_end|>'],
      ]).kind,
    ).toBe('generation-prompt')
  })
})

describe('the cause of a difference in new messages', () => {
  test('is a message that the template does not print', () => {
    expect(
      causeBetween(turn(), [
        [0, 'Why?\n#'],
        [1, 'So.<|im_end|>'],
      ]).text,
    ).toBe('The template does not print the new user message.')
  })

  test('is the order of results if both are printed', () => {
    const results = ['one', 'two'].map((content) => ({ ...next, role: 'tool', content }))
    const rendered = [
      [0, 'Why?\n#'],
      [1, 'So.<|im_end|>'],
      [3, 'two'],
      [2, 'one'],
    ] as const
    expect(causeBetween(turn({ added: 'onetwo' }), rendered, { messages: [question, reply, ...results] }).kind).toBe(
      'results-reordered',
    )
  })
})

test('the cause is merged tokens if the texts are the same where the tokens differ', () => {
  const merged = turn({ content: '<thi', end: 'nk>' })
  const rendered = [
    [0, 'Why?\n#'],
    [1, '<think>'],
    [2, 'And?'],
  ] as const
  expect(causeBetween(merged, rendered).text).toBe(
    'The text is the same, but encoding the whole text gives different tokens than the recorded ones.',
  )
  expect(causeBetween(merged, [...rendered.slice(0, 2), [2, 'And!']]).text).toBe(
    'Encoding the whole text gives different tokens here than the recorded ones. The text after this position differs too.',
  )
})
