/**
 * Tests of formats whose calls are in one list between two tokens: lfm2, cohere_command4, command_r, apertus2509,
 * tool_calls, nemotron, granite, phi4_mini, olmo3, falcon3. xlam has no tokens.
 */
import { describe, expect, test } from 'vitest'
import { apertus2509 } from '../json/apertus2509.ts'
import { cohereCommand4, commandR } from '../json/cohere-command4.ts'
import type { ToolParser } from '../parser.ts'
import { lfm2 } from '../python/lfm2.ts'
import { minicpm3, olmo3 } from '../python/olmo3.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { falcon3, granite, hyperclovax, nemotron, phi4Mini, toolCalls, xlam } from './named-lists.ts'
import { textWithoutCalls } from './rest.ts'

const reasons = (parser: ToolParser, text: string) =>
  describeCalls(parseText(parser, text)).map((line) => line.replace(/ @\d+$/, ''))

const FORMATS = [
  [lfm2, (list: string) => `<|tool_call_start|>${list}<|tool_call_end|>`, (name: string) => `${name}(a=1)`],
  [
    lfm2,
    (list: string) => `<|tool_call_start|>${list}<|tool_call_end|>`,
    (name: string) => `{"name": "${name}", "arguments": {"a": 1}}`,
  ],
  [
    cohereCommand4,
    (list: string) => `<|START_ACTION|>${list}<|END_ACTION|>`,
    (name: string) => `{"tool_call_id": "0", "tool_name": "${name}", "parameters": {"a": 1}}`,
  ],
  [
    commandR,
    (list: string) => `Action:\n\`\`\`json\n${list}\`\`\``,
    (name: string) => `{"tool_name": "${name}", "parameters": {"a": 1}}`,
  ],
  [
    toolCalls,
    (list: string) => `<tool_calls>${list}</tool_calls>`,
    (name: string) => `{"name": "${name}", "arguments": {"a": 1}}`,
  ],
  [
    nemotron,
    (list: string) => `<TOOLCALL>${list}</TOOLCALL>`,
    (name: string) => `{"name": "${name}", "arguments": {"a": 1}}`,
  ],
  [apertus2509, (list: string) => `<|tools_prefix|>${list}<|tools_suffix|>`, (name: string) => `{"${name}": {"a": 1}}`],
] as const

describe.each(FORMATS)('$name parser with a list', (parser, between, call) => {
  const [open = '', close = ''] = between('|list|').split('|list|')

  test('returns the positions of its calls and keeps the text around it', () => {
    const text = `So. ${between(`[\n  ${call('f')},\n  ${call('g')}\n]`)} done${between('[]')}`
    const calls = parseText(parser, text)
    expect(describeCalls(calls)).toEqual(['f({"a":1})', 'g({"a":1})'])
    expect(calls.map((one) => textInRange(text, one.text))).toEqual([call('f'), call('g')])
    for (const one of calls) {
      if (one.kind !== 'parsed') throw new Error('malformed')
      expect(textInRange(text, one.nameText).replaceAll('"', '')).toBe(one.name)
      expect(
        one.arguments.map(({ key, text: at }) =>
          `${textInRange(text, key)} ${textInRange(text, at)}`.replaceAll('"', ''),
        ),
      ).toEqual(['a 1'])
    }
    expect(textWithoutCalls(text, calls, [], parser)).toBe('So.  done')
  })

  test('reads several lists and ignores those in a think block', () => {
    expect(
      reasons(
        parser,
        `<think>${between(`[${call('x')}]`)}</think>${between(`[${call('f')}]`)} ${between(`[${call('g')}]`)}`,
      ),
    ).toEqual(['f({"a":1})', 'g({"a":1})'])
  })

  test('drops the calls of a broken or unclosed list and reads the next one', () => {
    const good = between(`[${call('g')}]`)
    const refused = (why: string) => `✗ the list of calls could not be parsed: ${why}`
    const stands = `"${open[0]}" where ${close} is expected`
    expect(reasons(parser, `${open}[${call('f')}]`)).toEqual([refused(`the text ends where ${close} is expected`)])
    expect(reasons(parser, `${open}[${call('f')}]${good}`)).toEqual([refused(stands), 'g({"a":1})'])
    expect(reasons(parser, `${open}text${close}${good}`)).toEqual([
      '✗ "t" where the list of calls is expected',
      'g({"a":1})',
    ])
    expect(reasons(parser, open)).toEqual(['✗ the text ends where the list of calls is expected'])
    expect(reasons(parser, `${between(`[${call('f')}, `)}${good}`).at(-1)).toBe('g({"a":1})')
    const cut = parseText(parser, `${between(`[${call('f')}] x`)}.`)
    expect(cut.map(({ kind }) => kind)).toEqual(['malformed', 'malformed'])
    expect(cut.at(-1)?.raw).toBe(` x${close}`)
  })
})

describe('lfm2 parser', () => {
  test.each([
    ['f(a=true, b=None, c={"d": [null, False]})', 'f({"a":true,"b":null,"c":{"d":[null,false]}})'],
    ["f(a='<|tool_call_end|>')", 'f({"a":"<|tool_call_end|>"})'],
    ['{"name": "f", "arguments": {"a": "<|tool_call_end|>"}}', 'f({"a":"<|tool_call_end|>"})'],
    ['f(1)', '✗ an argument has no name'],
    ["f(a='x)", '✗ "a": a text is not closed'],
    ['f(a=1', '✗ the list of calls is not closed'],
    ['{"name": "f", "arguments": [1]}', '✗ "arguments" is not a JSON object'],
    ['{"name": "f", "arguments": {"a": "x}', '✗ a string is not closed'],
  ])('reads %s', (call, read) => {
    const good = '<|tool_call_start|>[g()]<|tool_call_end|>'
    expect(reasons(lfm2, `<|tool_call_start|>[${call}]<|tool_call_end|>${good}`)).toEqual([read, 'g({})'])
  })

  test('reports the position of a truncated text', () => {
    expect(reasons(lfm2, "<|tool_call_start|>[f(a='x")).toEqual(['✗ "a": a text is not closed'])
  })
})

describe('olmo3 parser', () => {
  const good = '<function_calls>\ng()\n</function_calls>'

  // The first six are cases of vLLM 0.33's own test of its parser.
  test.each([
    [
      "register_user(name='John Doe', age=37, address={'city': 'San Francisco'}, role=None, passed_test=True, aliases=['John'])",
      'register_user({"name":"John Doe","age":37,"address":{"city":"San Francisco"},"role":null,"passed_test":true,"aliases":["John"]})',
    ],
    ['register_user(role=null, passed_test=true)', 'register_user({"role":null,"passed_test":true})'],
    ['get_weather()', 'get_weather({})'],
    ['do_something_cool(additional_data={})', 'do_something_cool({"additional_data":{}})'],
    ['do_something_cool(steps=[])', 'do_something_cool({"steps":[]})'],
    [
      String.raw`get_weather(city='Martha\'s Vineyard', metric='\"cool units\"')`,
      String.raw`get_weather({"city":"Martha's Vineyard","metric":"\"cool units\""})`,
    ],
    ['f(a="</function_calls>")', 'f({"a":"</function_calls>"})'],
    ['f(1)', '✗ an argument has no name'],
    ["f(a='x)", '✗ "a": a text is not closed'],
    ['f(a=1', '✗ the list of calls is not closed'],
    ['[f()]', '✗ expected the name of a call'],
    ['{"name": "f"}', '✗ "{" where the list of calls is expected'],
    ['', '✗ "<" where the list of calls is expected'],
  ])('reads %s', (call, read) => {
    expect(reasons(olmo3, `<function_calls>${call}</function_calls>${good}`)).toEqual([read, 'g({})'])
  })

  test('reads a call on each line, and keeps the text around them', () => {
    const text = `So. <function_calls>f(a=1)\n\n  g(\n b="x"), h()\n</function_calls> done`
    const calls = parseText(olmo3, text)
    expect(describeCalls(calls)).toEqual(['f({"a":1})', 'g({"b":"x"})', 'h({})'])
    expect(calls.map((one) => textInRange(text, one.text))).toEqual(['f(a=1)', 'g(\n b="x")', 'h()'])
    expect(textWithoutCalls(text, calls, [], olmo3)).toBe('So.  done')
  })

  test('drops the calls of a broken or unclosed list and reads the next one', () => {
    const refused = (why: string) => `✗ the list of calls could not be parsed: ${why}`
    const expected = 'where </function_calls> is expected'
    expect(reasons(olmo3, '<function_calls>f()')).toEqual([refused(`the text ends ${expected}`)])
    expect(reasons(olmo3, `<function_calls>f()${good}`)).toEqual([refused(`"<" ${expected}`), 'g({})'])
    for (const end of [' g()', ',', '\n,\n']) {
      const [first, rest, last] = reasons(olmo3, `<function_calls>f()${end}</function_calls>${good}`)
      expect([first?.startsWith(refused('"')), rest?.startsWith('✗'), last]).toEqual([true, true, 'g({})'])
    }
    expect(reasons(olmo3, `<function_calls>f()\ntext</function_calls>${good}`)).toEqual(['✗ expected "("', 'g({})'])
  })
})

describe('cohere_command4 parser', () => {
  test('keeps the model’s id and allows a missing name or arguments', () => {
    const one = (body: string) => parseText(cohereCommand4, `<|START_ACTION|>[${body}]<|END_ACTION|>`)[0]
    expect(one('{"tool_call_id": "7", "tool_name": "f"}')).toMatchObject({
      name: 'f',
      input: {},
      writtenId: '7',
      ignored: [],
    })
    expect(one('{"tool_call_id": 7, "tool_name": "f"}')).not.toHaveProperty('writtenId')
    expect(one('{"tool_call_id": "", "tool_name": "f"}')).not.toHaveProperty('writtenId')
    expect(one('{"parameters": {}}')).toMatchObject({ kind: 'malformed', why: 'the call has no "tool_name"' })
    expect(one('{"tool_name": 1}')).toMatchObject({ kind: 'malformed', why: '"tool_name" is not a text' })
    expect(one('{"tool_name": "f", "parameters": {"a"')).toMatchObject({ kind: 'malformed', name: 'f' })
  })
})

describe('command_r parser', () => {
  test('reads a fenced list after the word, and the word alone as text', () => {
    for (const text of ['Action: none', 'Action:', '```json\n[]```'])
      expect([text, reasons(commandR, text), textWithoutCalls(text, [], [], commandR)]).toEqual([text, [], text])
    const text = 'Action: ```json [{"tool_name": "f", "parameters": {"a": "```"}}]\n```'
    expect(reasons(commandR, text)).toEqual(['f({"a":"```"})'])
  })
})

describe('apertus2509 parser', () => {
  test.each([
    ['{}', '✗ a call is an object with one member: its name, with the arguments'],
    ['{"f": {}, "g": {}}', '✗ a call is an object with one member: its name, with the arguments'],
    ['{" ": {}}', '✗ the call has no name'],
    ['{"f": [1]}', '✗ what follows the name is not a JSON object'],
    ['{"f": {"a": "<|tools_suffix|>"}}', 'f({"a":"<|tools_suffix|>"})'],
  ])('reads %s', (call, read) => {
    expect(reasons(apertus2509, `<|tools_prefix|>[${call}, {"g": {}}]<|tools_suffix|>`)).toEqual([read, 'g({})'])
  })
})

describe.each([
  [toolCalls, '<tool_calls>', '</tool_calls>'],
  [nemotron, '<TOOLCALL>', '</TOOLCALL>'],
])('$name parser', (parser, open, close) => {
  const call = (name: string) => `{"name": "${name}", "arguments": {"a": 1}}`

  test('reads a call on each line without brackets', () => {
    const text = `So.${open}\n${call('f')}\n${call('g')}\n${close} done${open}${call('h')}${close}`
    const calls = parseText(parser, text)
    expect(describeCalls(calls)).toEqual(['f({"a":1})', 'g({"a":1})', 'h({"a":1})'])
    expect(calls.map((one) => textInRange(text, one.text))).toEqual(['f', 'g', 'h'].map(call))
    expect(textWithoutCalls(text, calls, [], parser)).toBe('So. done')
  })

  test('drops the calls of a run with a broken line or without an end', () => {
    const good = `${open}${call('g')}${close}`
    expect(reasons(parser, `${open}${call('f')}\n{"name": "x", ${close}${good}`)).toEqual([
      '✗ the list of calls could not be parsed: the text ends where a member name in double quotes is expected',
      '✗ the text ends where a member name in double quotes is expected',
      'g({"a":1})',
    ])
    expect(reasons(parser, `${open}${call('f')}`)).toEqual([
      `✗ the list of calls could not be parsed: the text ends where ${close} is expected`,
    ])
    expect(reasons(parser, `${open}{"name": "f", "arguments": {"a": 1, "a": 2}}${close}`)).toEqual([
      '✗ "a" is given twice',
    ])
  })

  test('keeps the model’s id if it is a text', () => {
    const one = (id: string) => parseText(parser, `${open}[{"name": "f", "arguments": {}, "id": ${id}}]${close}`)[0]
    expect(one('"call_7"')).toMatchObject({ name: 'f', writtenId: 'call_7', ignored: [] })
    expect(one('7')).not.toHaveProperty('writtenId')
    expect(one('""')).not.toHaveProperty('writtenId')
  })
})

describe('a list that ends with its bracket', () => {
  const list = '[{"name": "f", "arguments": {"a": 1}}, {"name": "g"}]'

  test.each([
    ['Granite 3', granite, `<|tool_call|>${list}`],
    ['Granite 3.0, with a space', granite, `<|tool_call|> ${list}`],
    ['Phi-4 mini with its tokens', granite, `<|tool_call|>${list}<|/tool_call|>`],
    ['Phi-4 mini without tokens', phi4Mini, `functools${list}`],
  ])('is read as %s writes it, and its markup is no content', (_, parser, written) => {
    const text = `So ${written}\nDone.`
    const calls = parseText(parser, text)
    expect(describeCalls(calls)).toEqual(['f({"a":1})', 'g({})'])
    expect(textWithoutCalls(text, calls, [], parser)).toBe('So \nDone.')
  })

  test('is malformed to the end of the text, or to the next list, if it is broken', () => {
    expect(reasons(granite, '<|tool_call|>[{"name": "f"')).toEqual([expect.stringMatching(/^✗ the text ends where/)])
    expect(reasons(granite, `<|tool_call|>{x}<|tool_call|>${list}`)).toEqual([
      expect.stringMatching(/^✗/),
      'f({"a":1})',
      'g({})',
    ])
    expect(reasons(granite, '<|tool_call|>none')).toEqual(['✗ "n" where the list of calls is expected'])
  })

  test('is no list if only the word before it occurs', () => {
    expect(reasons(phi4Mini, 'import functools\nfunctools.reduce(f, [1])')).toEqual([])
    expect(reasons(phi4Mini, 'functools[1]')).toEqual([expect.stringMatching(/^✗/)])
  })
})

describe('xlam parser', () => {
  const list = '[{"name": "f", "arguments": {"a": 1}},\n{"name": "g", "arguments": {}}]'

  test('reads lists of names and arguments, and the text around them', () => {
    expect(reasons(xlam, `${list} then ${list}`)).toEqual(['f({"a":1})', 'g({})', 'f({"a":1})', 'g({})'])
    expect(textWithoutCalls(`Well: ${list}.`, parseText(xlam, `Well: ${list}.`), [], xlam)).toBe('Well: .')
  })

  test('reads no list of other objects, and none that follows the mark of another format', () => {
    expect(parseText(xlam, '[{"name": "Ada"}, {"name": "Bob", "age": 7}] [1] [] [{}]')).toEqual([])
    for (const mark of [
      '<tool_call>',
      '<tool_calls>\n',
      '<TOOLCALL>',
      '<|tool_call|>',
      '[TOOL_CALLS] ',
      'functools',
      '-> tool/function_call\n',
    ])
      expect(parseText(xlam, mark + list)).toEqual([])
  })

  test('refuses all calls of a broken list, and reads the list after it', () => {
    const broken = list.replace(']', ' and')
    expect(reasons(xlam, `${broken} ${list}`)).toEqual([
      expect.stringMatching(/^✗/),
      expect.stringMatching(/^✗/),
      expect.stringMatching(/^✗/),
      'f({"a":1})',
      'g({})',
    ])
    expect(reasons(xlam, broken.slice(0, 30))).toEqual([expect.stringMatching(/^✗/)])
  })
})

describe('falcon3 parser', () => {
  const read = (list: string) => parseText(falcon3, `<tool_call>\n${list}\n</tool_call>`)
  const entry = (members: string) => `{"id": "c1", "type": "function", ${members}}`

  test('reads entries of a message, whose call is the member "function", with their ids', () => {
    const text = entry('"function": {"name": "f", "arguments": {"a": 1}, "b": 2}, "index": 0')
    const [call] = read(`[${text}]`)
    expect(call).toMatchObject({ kind: 'parsed', name: 'f', input: { a: 1 }, writtenId: 'c1', raw: text })
    const ignored = call?.kind === 'parsed' ? call.ignored : []
    expect(ignored.map((range) => textInRange(`<tool_call>\n[${text}]\n</tool_call>`, range))).toEqual([
      '"b": 2',
      '"index": 0',
    ])
  })

  test('reads calls that are no entries, and reports an entry without a name', () => {
    const drawn = describeCalls(
      read(`[{"name": "f", "arguments": {}}, ${entry('"function": {"arguments": {}}')}, ${entry('"function": "f"')}]`),
    )
    expect(drawn).toEqual([
      'f({})',
      expect.stringContaining('the call has no "name"'),
      expect.stringContaining('the call has no "name"'),
    ])
  })
})

test('minicpm3 parser reads a block of Python, and refuses one without its fence', () => {
  const block = (body: string) => `<|tool_call_start|>\n${body}\n<|tool_call_end|>`
  const text = `So.${block('```python\nf(a="```",b=true)\ng()\n```')}`
  expect(reasons(minicpm3, text)).toEqual(['f({"a":"```","b":true})', 'g({})'])
  expect(textWithoutCalls(text, parseText(minicpm3, text), [], minicpm3)).toBe('So.')
  expect(reasons(minicpm3, block('f()'))).toEqual([])
  expect(reasons(minicpm3, block('```python\nf()')).at(-1)).toMatch(/^✗ "<" where ```/)
})

test('hyperclovax parser removes the ends and headers of messages from the text', () => {
  const list = '[{"name": "f", "arguments": {}}]'
  const text = `So.<|im_end|>\n<|im_start|>assistant -> tool/function_call\n${list}<|im_end|><|stop|>`
  const calls = parseText(hyperclovax, text)
  expect(describeCalls(calls)).toEqual(['f({})'])
  expect(textWithoutCalls(text, calls, [], hyperclovax)).toBe('So.\n ')
})
