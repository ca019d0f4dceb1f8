import { describe, expect, test } from 'vitest'
import { DEFAULT_BUDGET } from './budget.ts'
import type { RenderLimits } from './rendering.ts'
import { LocatedError } from './syntax/syntax.ts'
import { compileTemplate } from './template.ts'

/** Returns the class name of the error that ends a render, or the rendered text. */
function outcome(template: string, budget: Partial<RenderLimits> = {}, now = () => 0): string {
  try {
    const compiled = compileTemplate(template)
    return compiled.render(new Map(), { budget: { ...DEFAULT_BUDGET, ...budget }, now })
  } catch (error) {
    if (error instanceof LocatedError) return error.className
    throw error
  }
}

const LONG_TEXT = "{% set ns = namespace(x='ab') %}{% for _ in range(17) %}{% set ns.x = ns.x + ns.x %}{% endfor %}"

describe('a render that would never end', () => {
  test.each([
    ['loops within loops', '{% for _ in range(99999) %}{% for _ in range(99999) %}{% endfor %}{% endfor %}'],
    ['filters within loops', "{% for _ in range(99999) %}{{ range(99999)|map('string')|join|length }}{% endfor %}"],
    [
      'macros that branch',
      '{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}',
    ],
    ['output', '{% for _ in range(99999) %}{% for _ in range(99999) %}letters{% endfor %}{% endfor %}'],
  ])('is ended by the step limit: %s', (_, template) => {
    expect(outcome(template, { steps: 100_000 })).toBe('BudgetError')
  })

  test.each([
    ['a repeated text', "{{ 'a' * 10**9 }}"],
    ['a repeated list', '{{ [1] * 10**9 }}'],
    ['padding by a filter', "{{ 'a'|center(10**9) }}"],
    ['padding by a method', "{{ 'a'.ljust(10**9) }}"],
    ['padding by %', "{{ '%1000000000d' % 1 }}"],
    ['padding by format', "{{ '{:>1000000000}'.format(1) }}"],
    ['a text that doubles', LONG_TEXT.replace('17', '99')],
    ['a list that doubles', LONG_TEXT.replace('17', '99').replace("'ab'", '[1]')],
    [
      'lists that share their parts, written',
      '{% set ns = namespace(x=[1]) %}{% for _ in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}',
    ],
    ['indented JSON', "{{ {'a': 1}|tojson(indent=10**8) }}"],
    ['indented JSON beyond what a text can hold', "{{ {'a': [1]}|tojson(indent=10**10) }}"],
    ['JSON of nothing, indented', '{{ []|tojson(indent=10**8) }}'],
    [
      'JSON whose lines are indented more at each level',
      '{% set ns = namespace(x=[1]) %}{% for _ in range(900) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x|tojson(indent=10**6) }}',
    ],
    ['JSON with many indented entries', '{{ range(99999)|list|tojson(indent=10**6) }}'],
    ['JSON with long separators', "{{ range(99999)|list|tojson(separators=(' ' * 10**6, ':')) }}"],
    ['JSON with long separators of members', "{{ {'a': {'a': {'a': 1}}}|tojson(separators=(',', ' ' * 10**7)) }}"],
    ['a power', '{{ 10 ** (10 ** 9) }}'],
    [
      'texts that are kept',
      `${LONG_TEXT}{% set ns.l = [] %}{% for i in range(9999) %}{% set ns.l = ns.l + [ns.x ~ i] %}{% endfor %}`,
    ],
  ])('is ended by the size limit: %s', (_, template) => {
    expect(outcome(template)).toBe('BudgetError')
  })

  test.each([
    ['a macro', '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}'],
    [
      'a macro whose body is deep',
      `{% macro m() %}${'{% if 1 %}'.repeat(60)}{{ ${'('.repeat(30)}m()${')'.repeat(30)} }}${'{% endif %}'.repeat(60)}{% endmacro %}{{ m() }}`,
    ],
    ['a call block', '{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{{ m() }}'],
    ['a loop', '{% for _ in [1] recursive %}{{ loop([1]) }}{% endfor %}'],
  ])('raises RecursionError as Python does if %s calls itself', (_, template) => {
    expect(outcome(template)).toBe('RecursionError')
  })

  test.each([
    ['brackets', `{{ ${'('.repeat(99_999)}1${')'.repeat(99_999)} }}`],
    ['lists', `{{ ${'['.repeat(99_999)}${']'.repeat(99_999)} }}`],
    ['not', `{{ ${'not '.repeat(99_999)}1 }}`],
    ['minus', `{{ ${'-'.repeat(99_999)}1 }}`],
    ['else', `{{ ${'1 if 0 else '.repeat(99_999)}1 }}`],
    ['operands', `{{ 1${'+1'.repeat(99_999)} }}`],
    ['filters', `{{ 1${'|int'.repeat(99_999)} }}`],
    ['attributes', `{{ a${'.a'.repeat(99_999)} }}`],
    ['statements', `${'{% if 1 %}'.repeat(99_999)}`],
  ])('raises RecursionError as Python does if its tree is too deep by its %s', (_, template) => {
    expect(outcome(template)).toBe('RecursionError')
  })
})

describe('the clock of a budget', () => {
  /** Returns the outcome and the number of clock reads; every read advances the clock by one millisecond. */
  function looksOf(template: string, milliseconds: number): readonly [string, number] {
    let looks = 0
    const result = outcome(template, { milliseconds }, () => looks++)
    return [result, looks]
  }

  test('is read until the time is over, then no more', () => {
    const [result, looks] = looksOf('{% for _ in range(99999) %}{{ 1 }}{% endfor %}', 50)
    expect(result).toBe('BudgetError')
    expect(looks).toBe(51)
  })

  test.each([
    ['searches', "{% if 'z' in ns.x %}{% endif %}"],
    ['comparisons', "{% if ns.x == ns.x ~ '' %}{% endif %}"],
    ['filters', '{% set y = ns.x|length %}'],
    ['methods', "{% set y = ns.x.count('z') %}"],
  ])('is read every few %s in a long text', (_, statement) => {
    const turns = (count: number) =>
      looksOf(`${LONG_TEXT}{% for _ in range(${count}) %}${statement}{% endfor %}`, 1e6)[1]
    expect(turns(200) - turns(100)).toBeGreaterThanOrEqual(25)
  })
})

test('the default budget is far above what a conversation of 200,000 tokens needs', () => {
  const template =
    "{%- for m in messages -%}{%- if m.content is string and '</think>' in m.content -%}{{- m.content.split('</think>')[-1]|trim -}}{%- else -%}" +
    "{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' -}}{%- endif -%}{%- endfor -%}"
  const messages = `[${"{'role': 'user', 'content': 'word ' * 200}, ".repeat(1000)}]`
  const tenth = { steps: 5_000_000, size: DEFAULT_BUDGET.size / 4 }
  expect(outcome(`{%- set messages = ${messages} -%}${template}`, tenth)).toHaveLength(1000 * (1000 + 28))
})
