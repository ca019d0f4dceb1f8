import { describe, expect, test } from 'vitest'
import { chatTemplate, TemplateError, type TemplateMessage } from '#lib/templates/chat-template.ts'
import type { Finish, Message, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { type SimulatedTurn, simulateRollout } from '#testing/simulated-rollout.ts'
import { callsEndTurns, chatml, closesTwice, looksBack, resultsInTheTurn } from '#testing/small-templates.ts'
import { continuationOf, plainTurn, type ReplyCall, type ReplyEnd } from './continuation.ts'
import { endOfTurnId } from './prompt.ts'

const bytes = byteTokenizer.encode
const user = (content: string): Message => ({ role: 'user', content })
const said = (text: string, end: string): Pick<SimulatedTurn, 'reply' | 'finish'> => ({
  reply: [...bytes(text), byteId(end)],
  finish: { kind: 'stop', matched: byteId(end) } satisfies Finish,
})
const call = (name: string) => `<tool_call>{"name": "${name}", "arguments": {"x": 1}}`
const result = (content: string, number = 0): Message => ({ role: 'tool', callId: `call_000${number}`, content })

/** Returns the text of each prompt after the first, and the result of its check. */
const prompts = (trajectory: Trajectory) =>
  trajectory.segments.flatMap((segment, index) =>
    segment.kind === 'prompt' && index > 0
      ? [
          {
            text: textOf(segment.ids, trajectory.vocab),
            check: segment.derivation?.kind === 'continuation' ? segment.derivation.check.kind : undefined,
          },
        ]
      : [],
  )
const played = (template: string, turns: readonly SimulatedTurn[]) =>
  prompts(simulateRollout(template, turns).trajectory)

describe('tool results after the calls of a reply', () => {
  test('follow the token that ends the call, if the template closes no turn after it', () => {
    expect(
      played(callsEndTurns, [
        { messages: [user('q')], ...said(call('f'), '</tool_call>') },
        { messages: [result('a "b"')], ...said(call('g'), '</tool_call>') },
        { messages: [result('c', 1)], ...said('done', '<|endoftext|>') },
      ]),
    ).toEqual([
      { text: '<|observation|>f\n"a \\"b\\""<|im_end|><|assistant|>', check: 'held' },
      { text: '<|observation|>g\n"c"<|im_end|><|assistant|>', check: 'held' },
    ])
  })

  test('are printed in the turn of the call, with the names of parallel calls', () => {
    expect(
      played(resultsInTheTurn, [
        { messages: [user('q')], ...said(`${call('f')}</tool_call>${call('g')}</tool_call>`, '<|observation|>') },
        { messages: [result('one'), result('two', 1)], ...said('done', '<|im_end|>') },
        { messages: [user('more')], ...said('ok', '<|im_end|>') },
      ]),
    ).toEqual([
      { text: 'f: one<|observation|>g: two', check: 'held' },
      { text: '\n<|user|>more<|im_end|>\n<|assistant|>', check: 'held' },
    ])
  })

  test('break the check if the template moves the text of the reply after them', () => {
    const [next] = played(resultsInTheTurn, [
      { messages: [user('q')], ...said(`so ${call('f')}`, '</tool_call>') },
      { messages: [result('one')], ...said('done', '<|im_end|>') },
    ])
    expect(next).toEqual({ text: '<|observation|>f: one', check: 'broken' })
  })

  test('are found by their content once a template was seen to print them, also if it occurs in the call', () => {
    const { trajectory } = simulateRollout(
      chatml.replace('m.content +', "m.content + (m.tool_calls | tojson if m.tool_calls else '') +"),
      [
        { messages: [user('q')], ...said(`${call('f')}</tool_call>`, '<|im_end|>') },
        ...['sunny', '1', '', 'sunny sunny', 'PLACEHOLDER'].map((text, number) => ({
          messages: [result(text, number)],
          ...said(`${call('f')}</tool_call>`, '<|im_end|>'),
        })),
      ],
    )
    expect(prompts(trajectory)).toEqual(
      ['sunny', '1', '', 'sunny sunny', 'PLACEHOLDER'].map((text) => ({
        text: `\n<|im_start|>tool\n${text}<|im_end|>\n<|im_start|>assistant\n`,
        check: 'held',
      })),
    )
    expect(trajectory.segments[2]).toMatchObject({ derivation: { closesTurn: false } })
  })

  test('close the turn first if a stop token closed only the call', () => {
    const { trajectory } = simulateRollout(chatml, [
      { messages: [user('q')], ...said(call('f'), '</tool_call>') },
      { messages: [result('4')], ...said('done', '<|im_end|>') },
    ])
    expect(prompts(trajectory)).toEqual([
      { text: '<|im_end|>\n<|im_start|>tool\n4<|im_end|>\n<|im_start|>assistant\n', check: 'held' },
    ])
    expect(trajectory.segments[2]).toMatchObject({ derivation: { closesTurn: true } })
  })

  test('follow a malformed call under the name it has, or under none', () => {
    for (const [text, name] of [
      ['<tool_call>{"name": "f", ', 'f'],
      ['<tool_call>?', 'malformed_tool_call'],
    ] as const)
      expect(
        played(callsEndTurns, [
          { messages: [user('q')], ...said(text, '</tool_call>') },
          { messages: [result('Error')], ...said('done', '<|endoftext|>') },
        ]),
      ).toEqual([{ text: `<|observation|>${name}\n"Error"<|im_end|><|assistant|>`, check: 'held' }])
  })

  test('that a template prints nowhere end the run instead of being lost', () => {
    const deaf = chatml.replace('{%- for m in messages -%}', "{%- for m in messages if m.role != 'tool' -%}")
    expect(() =>
      played(deaf, [
        { messages: [user('q')], ...said(`${call('f')}</tool_call>`, '<|im_end|>') },
        { messages: [result('4')], ...said('done', '<|im_end|>') },
      ]),
    ).toThrow('does not print tool results')
  })

  test('are followed by a question in the same prompt, and keep parts that are not text', () => {
    const parts = [{ type: 'text', text: 'seen' }, { type: 'image' }]
    const template = chatml.replace('m.content +', "(m.content if m.content is string else 'PARTS') +")
    expect(
      played(template, [
        { messages: [user('q')], ...said(`${call('f')}</tool_call>`, '<|im_end|>') },
        { messages: [{ ...result(''), content: parts }, user('and?')], ...said('done', '<|im_end|>') },
      ]),
    ).toEqual([
      {
        text: '\n<|im_start|>tool\nPARTS<|im_end|>\n<|im_start|>user\nand?<|im_end|>\n<|im_start|>assistant\n',
        check: 'held',
      },
    ])
  })
})

const NO_SETTINGS = { tools: undefined, options: {} }

describe('a continuation', () => {
  const one: ReplyCall = { id: 'call_0000', name: 'f', input: { x: 1 } }
  const added: readonly TemplateMessage[] = [{ role: 'tool', tool_call_id: 'call_0000', content: '4' }]
  const end: ReplyEnd = { calls: [one], lastToken: undefined, tokensBefore: [], text: '' }
  const next = (template: string, given: Partial<ReplyEnd> = {}, messages = added, tools?: readonly unknown[]) =>
    continuationOf(chatTemplate(template, {}), { ...end, ...given }, messages, { tools, options: {} })

  test('has arguments as JSON text if the template refuses an object', () => {
    const joined = callsEndTurns.replaceAll(
      "'arguments': c.function.arguments",
      "'arguments': 'x' + c.function.arguments",
    )
    expect(next(joined)).toMatchObject({
      argumentsForm: 'string',
      text: '<|observation|>f\n"4"<|im_end|><|assistant|>',
    })
    expect(next(joined, { calls: [{ ...one, json: '{"x": 1.0}' }] }).written).toContain('x{\\"x\\": 1.0}')
  })

  test('is cut after an earlier token of the reply if the last one is foreign, otherwise where the turn is closed', () => {
    const template = looksBack.replace(
      "{{- text + '<|im_end|>",
      `{{- text -}}{%- for c in m.tool_calls or [] -%}{{- '<tool_call>' + c.function.name + '</tool_call>' -}}{%- endfor -%}{{- '<|im_end|>`,
    )
    const behind = '<|im_end|>\n<|im_start|>user\n[4]<|im_end|>\n<|im_start|>assistant\n'
    expect(next(template, { lastToken: '<|endoftext|>', tokensBefore: ['<|x|>', '</tool_call>'] }).text).toBe(behind)
    expect(next(template, { lastToken: '<|im_end|>' }).text).toBe(behind)
    expect(next(template).text).toBe(behind)
  })

  test('follows the content if the calls are printed in no known position', () => {
    expect(next(chatml).text).toBe('<|im_end|>\n<|im_start|>tool\n4<|im_end|>\n<|im_start|>assistant\n')
    const open =
      "{%- for m in messages -%}{{- '[' + m.role -}}{%- for c in m.tool_calls or [] -%}{{- c.function.name -}}{{- loop.revindex0 + messages | length -}}{%- endfor -%}{{- m.content + ']' -}}{%- endfor -%}"
    expect(next(open).text).toBe('][tool4]')
  })

  test('follows the content if the end of the calls is uncertain, and if nothing follows', () => {
    const numbered =
      "{%- for m in messages -%}{{- '[' ~ loop.revindex0 ~ m.role -}}{%- for c in m.tool_calls or [] -%}{{- c.function.name -}}{%- endfor -%}{{- m.content -}}{%- endfor -%}"
    expect(next(numbered).text).toBe('[0tool4')
    expect(next(numbered, {}, []).text).toBe('')
  })

  test('has the tools if the template prints calls or results only beside tools', () => {
    const printsCalls = `{%- for m in messages -%}{{- '<|im_start|>' + m.role + '\n' + m.content + '\n' -}}{%- for c in m.tool_calls if tools -%}{{- '<tool_call>' + c.function.name + '</tool_call>\n' -}}{%- endfor -%}{{- '<|im_end|>' -}}{%- if not loop.last -%}{{- '\n' -}}{%- endif -%}{%- endfor -%}`
    const ended = { lastToken: '<|im_end|>' }
    const tools = [{ type: 'function', function: { name: 'f' } }]
    expect(next(printsCalls, ended, added, tools).text).toBe('<|im_end|>\n<|im_start|>tool\n4\n<|im_end|>')
    const printsResults = `{%- for m in messages if tools or m.role != 'tool' -%}{{- '[' + m.content -}}{%- for c in m.tool_calls -%}{{- c.function.name -}}{%- endfor -%}{{- ']' -}}{%- endfor -%}`
    expect(next(printsResults, {}, added, tools).text).toBe('][4]')
    expect(() => next(printsResults, {}, added)).toThrow('does not print tool results')
    expect(() => next("{{- raise_exception('never') -}}", {}, added, tools)).toThrow('never')
  })

  test('is the same when the template has been seen to print results, and is refused for the same reasons', () => {
    const picky = callsEndTurns.replace(
      "{%- if m.role == 'tool' -%}",
      "{%- if m.content == 'bad' -%}{{- raise_exception('no bad results') -}}{%- endif -%}{%- if m.role == 'tool' -%}",
    )
    const template = chatTemplate(picky, {})
    const textAfter = (content: string) =>
      continuationOf(template, end, [{ role: 'tool', tool_call_id: 'call_0000', content }], NO_SETTINGS).text
    const expected = '<|observation|>f\n"sunny"<|im_end|><|assistant|>'
    expect([textAfter('sunny'), textAfter('sunny')]).toEqual([expected, expected])
    expect(() => textAfter('bad')).toThrow('no bad results')
  })

  test('needs no turn without calls', () => {
    const callsOnly =
      "{%- for m in messages -%}{%- if m.role == 'assistant' -%}{%- if not m.tool_calls -%}{{- raise_exception('calls only') -}}{%- endif -%}{{- '<' + m.tool_calls[0].function.name + '>' -}}{%- else -%}{{- m.content -}}{%- endif -%}{%- endfor -%}"
    expect(next(callsOnly).text).toBe('4')
    expect(next(callsOnly, { lastToken: '>' }).text).toBe('>4')
  })

  test('is refused in the words of the template for the real calls', () => {
    const refusing =
      "{%- for m in messages -%}{%- if m.tool_calls -%}{{- raise_exception('one call at most') -}}{%- elif m.role == 'tool' -%}{{- raise_exception('no call') -}}{%- endif -%}{{- m.content -}}{%- endfor -%}"
    expect(() => next(refusing)).toThrow('one call at most')
    expect(() => next(refusing, { calls: [] })).toThrow('no call')
  })

  test('is rendered with an empty list of tools if the template requires a list', () => {
    const listing = `{%- for t in tools -%}{{- t -}}{%- endfor -%}${chatml}`
    expect(next(listing, { calls: [] }).text).toContain('<|im_start|>tool\n4')
    expect(plainTurn(chatTemplate(listing, {}), {})?.after).toBe('<|im_end|>\n')
  })

  test('does not hide a crash of Rollscope', () => {
    const broken = {
      text: '',
      render: () => {
        throw new RangeError('ours')
      },
    }
    expect(() => continuationOf(broken, end, added, NO_SETTINGS)).toThrow('ours')
    expect(() => continuationOf(broken, { ...end, calls: [] }, added, NO_SETTINGS)).toThrow(RangeError)
    expect(new TemplateError('x')).toBeInstanceOf(Error)
  })
})

describe('a turn that several tokens close', () => {
  test('ends with the last of them, and none of them is written twice', () => {
    const promptEncoder = { tokenizer: byteTokenizer, template: chatTemplate(closesTwice, {}) }
    expect(endOfTurnId(promptEncoder, {})).toBe(byteId('<|im_end|>'))
    const { trajectory } = simulateRollout(closesTwice, [
      { messages: [user('q')], ...said('a<|observation|>assistant<|user|>', '<|im_end|>') },
      { messages: [user('r')], reply: bytes('b<|observation|>assistant<|user|>'), finish: { kind: 'length' } },
      { messages: [user('s')], reply: bytes('cut'), finish: { kind: 'length' } },
      { messages: [user('t')], ...said('end', '<|im_end|>') },
    ])
    const question = (text: string) =>
      `<|im_start|>user<|user|>${text}<|observation|>user<|user|><|im_end|><|im_start|>assistant<|user|>`
    expect(prompts(trajectory).map(({ text }) => text)).toEqual([
      question('r'),
      `<|im_end|>${question('s')}`,
      `<|observation|>assistant<|user|><|im_end|>${question('t')}`,
    ])
    expect(trajectory.segments.filter(({ kind }) => kind === 'prompt').slice(1)).toMatchObject([
      { derivation: { closesTurn: false } },
      { derivation: { closesTurn: true } },
      { derivation: { closesTurn: true } },
    ])
  })

  test.each([
    [
      'of the last turn alone belong to the end of the text',
      '<|im_end|>',
      "{%- for m in messages -%}{{- '<|user|>' + m.content + '<|im_end|>\\n' -}}{%- endfor -%}{%- if not add_generation_prompt -%}{{- '<|endoftext|>' -}}{%- endif -%}",
    ],
    [
      'that only another turn brings end the turn all the same',
      '<|im_end|>',
      "{%- for m in messages -%}{{- '<|user|>' + m.content + ('' if loop.last else '<|im_end|>') -}}{%- endfor -%}",
    ],
    [
      'and a prompt that nobody requested are distinguished',
      '<|im_end|>',
      "{%- for m in messages -%}{{- '<|im_start|><|user|>' + m.content + '<|im_end|>' -}}{%- endfor -%}{{- '<|im_start|><|assistant|>' -}}",
    ],
    [
      'and a prompt that nobody asked for look alike where a question ends otherwise',
      '<|im_start|>',
      "{%- for m in messages -%}{{- '<|im_start|>' + m.content + ('<|im_end|>' if m.role == 'assistant' else '<|observation|>') -}}{%- endfor -%}{{- '<|im_start|><|assistant|>' -}}",
    ],
    ['are those of the last turn where earlier ones end otherwise', '<|endoftext|>', callsEndTurns],
    ['may be none', undefined, "{%- for m in messages -%}{{- '<|user|>' + m.content -}}{%- endfor -%}"],
    [
      'are not known of a template that refuses a further question',
      '<|im_end|>',
      "{%- if messages | length > 2 -%}{{- raise_exception('two') -}}{%- endif -%}{%- for m in messages -%}{{- m.content + '<|im_end|>' -}}{%- endfor -%}",
    ],
    [
      'are not known of a template that prints no reply',
      undefined,
      "{%- for m in messages if m.role == 'user' -%}{{- m.content + '<|im_end|>' -}}{%- endfor -%}",
    ],
    [
      'do not depend on a question being printed',
      '<|im_end|>',
      "{%- for m in messages if m.role != 'user' -%}{{- m.content + '<|im_end|>' -}}{%- endfor -%}",
    ],
  ])('has its tokens %s', (_, token, template) => {
    const id = endOfTurnId({ tokenizer: byteTokenizer, template: chatTemplate(template, {}) }, {})
    expect(id).toBe(token === undefined ? undefined : byteId(token))
  })
})
