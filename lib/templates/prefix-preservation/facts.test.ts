import { describe, expect, test } from 'vitest'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { messageForm, templateFacts, thinkingOf } from './facts.ts'
import type { Subject } from './subject.ts'
import { dropsCalls, steady } from './test-templates.ts'

const subjectOf = (template: string, options: Subject['options'] = {}): Subject => ({
  template: chatTemplate(template, {}),
  tokenizer: byteTokenizer,
  tools: undefined,
  options,
})
const raises = "{{- raise_exception('no') -}}"
const onlyIf = (condition: string, template = steady): string =>
  `{%- if not (${condition}) -%}${raises}{%- endif -%}${template}`

/** Writes headers and contents; `prompt` is the text after the header of the generation prompt. */
const plain = (prompt: string): string => `{%- for message in messages -%}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n${prompt}' -}}{%- endif -%}`

/** Writes thinking from a field: `open` before it and `close` after it in the history, `prompt` in the generation prompt. */
const withField = (prompt: string, open: string, close: string): string => `{%- for message in messages -%}
{{- '<|im_start|>' + message.role + '\\n' -}}
{%- if message.reasoning -%}{{- '${open}' + message.reasoning + '${close}' -}}{%- endif -%}
{{- message.content + '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n${prompt}' -}}{%- endif -%}`

describe('thinking of a template without a field for it', () => {
  test.each([
    ['is unknown if it names no delimiters', '', { delimiters: undefined, tags: undefined, prompt: 'leaves' }],
    [
      'is opened by a prompt that ends with the opening delimiter',
      '<think>\\n',
      { delimiters: { open: '', close: '\n</think>\n\n' }, prompt: 'opens' },
    ],
    [
      'is closed by a prompt that ends with the closing delimiter',
      '<think>\\n\\n</think>\\n\\n',
      { delimiters: undefined, tags: { open: '<think>', close: '</think>' }, prompt: 'closes' },
    ],
    [
      'is left to the model by a prompt that ends with other text',
      '[THINK]a[/THINK]b',
      { delimiters: { open: '[THINK]\n', close: '\n[/THINK]\n\n' }, prompt: 'leaves' },
    ],
  ])('%s', (_, prompt, expected) => {
    expect(thinkingOf(subjectOf(plain(prompt)))).toMatchObject({ fields: [], ...expected })
  })
})

describe('thinking of a template with a field for it', () => {
  test.each([
    ['is written with its delimiters', '', '<think>', '</think>', { open: '<think>', close: '</think>' }, 'leaves'],
    ['is opened by the prompt', '<think>', '<think>', '</think>', { open: '', close: '</think>' }, 'opens'],
    ['is closed by the prompt', '<think></think>', '<think>', '</think>', undefined, 'closes'],
    ['is closed by a prompt without an opening delimiter', '</think>', '<think>', '</think>', undefined, 'closes'],
    ['is closed before the end of the prompt', '<think></think>Now: ', '<think>', '</think>', undefined, 'closes'],
    [
      'follows a prompt with other text',
      'Now: ',
      '<think>',
      '</think>',
      { open: '<think>\n', close: '</think>' },
      'leaves',
    ],
    ['has delimiters of its own', '', '<mine>', '</mine>', { open: '<mine>', close: '</mine>' }, 'leaves'],
  ])('%s', (_, prompt, open, close, delimiters, state) => {
    expect(thinkingOf(subjectOf(withField(prompt, open, close)))).toMatchObject({
      fields: ['reasoning'],
      delimiters,
      prompt: state,
      tags: { open, close },
    })
  })

  test('has the last tag of the prompt as its delimiter if no text is written between them', () => {
    expect(thinkingOf(subjectOf(withField('<mine>', '<mine>', '</mine>')))).toMatchObject({
      delimiters: { open: '', close: '</mine>' },
      tags: { open: '<mine>', close: '</mine>' },
      prompt: 'opens',
    })
  })

  test('is unknown if the template refuses every conversation', () => {
    expect(thinkingOf(subjectOf(`${raises}{{- messages[0].reasoning -}}`))).toEqual({
      delimiters: undefined,
      fields: [],
      tags: undefined,
      prompt: 'leaves',
    })
  })
})

describe('the facts about a template name', () => {
  test('whether it accepts system messages', () => {
    expect(templateFacts(subjectOf(steady)).takesSystem).toBe(true)
    expect(templateFacts(subjectOf(onlyIf("messages[0].role != 'system'"))).takesSystem).toBe(false)
    // A template that needs a system message accepts it, although it refuses a question alone.
    expect(templateFacts(subjectOf(onlyIf("messages[0].role == 'system'"))).takesSystem).toBe(true)
  })

  test('the form in which it prints calls', () => {
    const calls = (template: string) => templateFacts(subjectOf(template)).calls
    const asText = steady.replace('(call.function.arguments | tojson)', 'call.function.arguments')
    expect([steady, asText, dropsCalls].map(calls)).toEqual(['object', 'string', 'dropped'])
    expect(calls(onlyIf('not messages[-1].tool_calls'))).toBe('refused')
    expect(messageForm(templateFacts(subjectOf(asText))).calls).toBe('string')
    expect(messageForm(templateFacts(subjectOf(dropsCalls))).calls).toBe('object')
  })

  test('the token that ends a turn, and no token if none does', () => {
    expect(templateFacts(subjectOf(steady)).endOfTurn).toBe('<|im_end|>')
    expect(templateFacts(subjectOf(steady.replaceAll('<|im_end|>', ''))).endOfTurn).toBe('')
  })

  test('the options that change its text, and no option that only makes it fail', () => {
    const { options } = templateFacts(
      subjectOf(
        onlyIf("mood is not defined or mood not in ['bad']", steady) +
          "{%- if tone == 'mild' -%}{{- 'Gently.' -}}{%- endif -%}{%- if loud is defined and loud -%}{{- '!' -}}{%- endif -%}",
      ),
    )
    expect(options).toEqual([
      { name: 'tone', values: ['mild'] },
      { name: 'loud', values: [true] },
    ])
  })
})
