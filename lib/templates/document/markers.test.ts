import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import { plainMarkers, renderedMarkers, templateMarkers } from './markers.ts'
import { branchesAround, tagsOf } from './tags.ts'
import { suggestedTokenizers, tokenizerOfModel } from './tokenizer-suggestions.ts'

const sample = (name: string) =>
  readFileSync(new URL(`../../../public/templates/${name}.jinja`, import.meta.url), 'utf8')

describe('the markers of templates, with real tokenizers', () => {
  const qwen3 = loadedTokenizer(tokenizerFolder('qwen3'))
  const nemo = loadedTokenizer(tokenizerFolder('mistral_nemo'))

  test('are all tokens of the tokenizer that a template belongs to', () => {
    for (const { template, tokenizer } of [qwen3, nemo]) {
      const markers = templateMarkers(template(true)?.text ?? '')
      expect(markers.length).toBeGreaterThan(1)
      expect(plainMarkers(markers, tokenizer)).toEqual([])
    }
  })

  test('of GLM are plain text for the tokenizer of Qwen3, except those that both have', () => {
    const markers = templateMarkers(sample('glm-like'))
    expect(plainMarkers(markers, qwen3.tokenizer)).toEqual([
      '[gMASK]',
      '<sop>',
      '<|system|>',
      '<|user|>',
      '<|assistant|>',
      '<|observation|>',
    ])
    expect(plainMarkers(templateMarkers(sample('chatml')), qwen3.tokenizer)).toEqual([])
  })
})

test.each([
  [
    '<|im_start|>',
    '<｜User｜>',
    '<|turn>',
    '<turn|>',
    '<|"|>',
    '<start_of_turn>',
    '</s>',
    '[INST]',
    '[/INST]',
    ']~b]',
    '<seed:bos>',
  ],
])('texts such as %s are markers', (...markers) => {
  expect(templateMarkers(markers.map((marker) => `{{ '${marker}' }} x ${marker}`).join('\n'))).toEqual(markers)
})

test('XML tags, operators, prose in brackets and text in comments are not markers', () => {
  expect(
    templateMarkers('<think><tool_call> a < b | c > d {# <|im_start|> #} [JSON] {{ x | default(1) }} <|{{ role }}|>'),
  ).toEqual([])
})

test('a marker that is composed of parts is found in the render, one in a message is not', () => {
  const template = chatTemplate('{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}', {})
  const rendering = template.trace({
    messages: [{ role: 'user', content: 'What does <|im_start|> mean?' }],
    tools: undefined,
    addGenerationPrompt: false,
    options: {},
  })
  expect(templateMarkers(template.text)).toEqual([])
  expect(renderedMarkers(rendering)).toEqual(['<|user|>'])
  expect(plainMarkers(['<|user|>', '<|system|>'], byteTokenizer)).toEqual(['<|system|>'])
})

describe('the suggested tokenizer', () => {
  const known = ['built-in', 'local/glm-4.5-air', 'qwen-of-mine']
  const of = (markers: readonly string[], chosen = 'other') =>
    suggestedTokenizers({ source: undefined, markers }, { chosen, known })

  test.each([
    ['glm-like', ['local/glm-4.5-air', 'zai-org/GLM-4.6']],
    ['qwen3-like', ['built-in', 'qwen-of-mine', 'Qwen/Qwen3-8B']],
    ['llama3-like', ['meta-llama/Llama-3.1-8B-Instruct']],
    ['mistral-like', ['mistralai/Mistral-Nemo-Instruct-2407']],
  ])('for %s follows its markers, and local tokenizers are first', (name, names) => {
    expect(of(templateMarkers(sample(name)))).toEqual(names)
  })

  test('for the template of a model is its own tokenizer, whatever the markers', () => {
    const source = { kind: 'tokenizer', name: 'a/b', template: undefined } as const
    expect(suggestedTokenizers({ source, markers: [] }, { chosen: 'c', known })).toEqual(['a/b'])
    expect(suggestedTokenizers({ source, markers: [] }, { chosen: 'a/b', known })).toEqual([])
  })
})

test.each([
  ['Qwen/Qwen3-8B', ['other', 'Qwen/Qwen3-8B'], 'Qwen/Qwen3-8B'],
  ['/checkpoints/qwen3-8b/', ['mine/Qwen3-8B'], 'mine/Qwen3-8B'],
  ['qwen3-8b', ['qwen3-8b-base', 'Qwen/Qwen3-8B'], 'Qwen/Qwen3-8B'],
  ['Qwen/Qwen3-8B', ['Qwen/Qwen3-4B'], 'Qwen/Qwen3-8B'],
  ['gpt-4o', ['built-in'], undefined],
  ['/', [''], undefined],
  [undefined, ['built-in'], undefined],
])('the tokenizer of the model %s with %j on this machine is %s', (model, known, expected) => {
  expect(tokenizerOfModel(model, known)).toBe(expected)
})

test('tags have their text without delimiters and whitespace control, and their line', () => {
  const source = 'a{#- note -#}\n{{ x }}{%+ if y -%}'
  expect(
    tagsOf(source).map(({ kind, line, innerStart, innerEnd }) => [kind, line, source.slice(innerStart, innerEnd)]),
  ).toEqual([
    ['comment', 1, ' note '],
    ['output', 2, ' x '],
    ['statement', 2, ' if y '],
  ])
})

test('a delimiter in a string literal does not close a tag, and a quote in a comment opens no literal', () => {
  const source = `{{ 'it\\'s }}' }}{# it's #}{{ "}}" }}`
  expect(tagsOf(source).map(({ start, end }) => source.slice(start, end))).toEqual([
    `{{ 'it\\'s }}' }}`,
    "{# it's #}",
    '{{ "}}" }}',
  ])
})

test('a tag that is not closed ends the list', () => {
  expect(tagsOf("{{ a }}{{ 'b }}")).toHaveLength(1)
})

test('the conditions around a line are those of all branches of its blocks, innermost first', () => {
  const source = [
    '{% if outer %}',
    '{% for m in messages %}',
    '{% if first %}',
    'here',
    '{% elif second %}',
    '{% endif %}',
    '{% endfor %}',
    '{% endif %}',
    '{% if other %}{% endif %}',
  ].join('\n')
  const conditions = (text: string, line: number) =>
    branchesAround(text, line).map(({ start, end }) => text.slice(start, end))
  expect(conditions(source, 4)).toEqual(['first', 'second', 'outer'])
  expect(conditions(source, 9)).toEqual(['other'])
  // A block that nothing opened, and a tag without a word.
  expect(conditions('{% elif a %}{% endif %}{% %}', 1)).toEqual([])
})
