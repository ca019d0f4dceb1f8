import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { comparedTexts, freeNames, templateOptions, withOption } from './template-options.ts'

const sample = (name: string) => readFileSync(`public/templates/${name}.jinja`, 'utf8')

describe('the names that a template reads', () => {
  test.each([
    ['qwen3-like', ['add_generation_prompt', 'enable_thinking']],
    ['llama3-like', ['date_string', 'add_generation_prompt']],
    ['mistral-like', []],
    ['glm-like', ['enable_thinking', 'add_generation_prompt']],
  ])('are found in the sample %s', (name, names) => {
    expect(freeNames(sample(name))).toEqual(names)
  })

  test.each([
    ['{{ a.b["c"].d }} {{ x["y z"] }}', ['a', 'x']],
    ['{{ a | default("q") | join(d=sep) }}', ['a', 'sep']],
    ['{% for k, v in a.items() recursive %}{{ k ~ v ~ loop.index }}{% endfor %}', ['a']],
    ['{% set x = y %}{% set ns.z = x %}{% set w %}t{% endset %}{{ w }}', ['y', 'ns']],
    ['{% macro m(p, q=r) %}{{ p }}{% endmacro %}{{ m(1) }}', []],
    ['{% if a is defined and b is not none and c == d %}{% endif %}', ['a', 'b', 'c', 'd']],
    ['{# e #}{{ "f" }}{{ f(g=h) }} i', ['f', 'h']],
    ['{%- if x is not defined %}{% set x = 1 %}{% endif %}{% set y = 1 %}', ['x']],
    ['{%- if unclosed', []],
  ])('are found in %s', (template, names) => {
    expect(freeNames(template)).toEqual(names)
  })
})

test.each([
  ["{% if effort == 'high' or 'low' != effort %}", ['high', 'low']],
  ["{% if effort in [\"a\", 'b'] and effort not in ('c',) %}", ['a', 'b', 'c']],
  ["{% if message.effort == 'x' or efforts == 'y' or effort.z == 'w' %}", []],
  ["{% if effort == other or effort == 'high' and effort == 'high' %}", ['high']],
])('%s compares effort with %j', (template, texts) => {
  expect(comparedTexts(template, 'effort')).toEqual(texts)
})

describe('the options of a document', () => {
  test('are the given ones, followed by those that the template reads', () => {
    expect(templateOptions('{"k": 1.0, "enable_thinking": false}', sample('qwen3-like'))).toEqual({
      kind: 'options',
      options: [
        { name: 'add_generation_prompt', source: undefined, isRead: true, isSwitch: true },
        { name: 'continue_final_message', source: undefined, isRead: true, isSwitch: true },
        { name: 'k', source: '1.0', isRead: false, isSwitch: false },
        { name: 'enable_thinking', source: 'false', isRead: true, isSwitch: true },
      ],
    })
  })

  test('keep their spelling when another one is added, changed or removed', () => {
    expect(withOption('', 'a', '1')).toBe('{\n  "a": 1\n}')
    expect(withOption('{"a": 1.0}', 'b', 'true')).toBe('{"a": 1.0, "b": true}')
    expect(withOption('{"a": 1.0, "b": true}', 'b', undefined)).toBe('{"a": 1.0}')
  })

  test.each([
    ['[]', /not an object/],
    ['{', /line 1, column 2/],
  ])('cannot be read from %s', (text, why) => {
    expect(templateOptions(text, '')).toMatchObject({ kind: 'unreadable', why: expect.stringMatching(why) })
  })
})
