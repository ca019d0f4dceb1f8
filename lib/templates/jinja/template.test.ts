/** Cases that the golden files cannot express, because they contain one template each, rendered once. */
import { describe, expect, test } from 'vitest'
import { DEFAULT_BUDGET } from './budget.ts'
import { fromJs } from './python/json.ts'
import type { Value } from './python/values.ts'
import { LocatedError } from './syntax/syntax.ts'
import { compileTemplate } from './template.ts'

const variables = (given: Readonly<Record<string, unknown>>): ReadonlyMap<string, Value> =>
  new Map(Object.entries(given).map(([name, value]) => [name, fromJs(value)]))
const render = (template: string, given = {}): string => compileTemplate(template).render(variables(given))
const NAMES = variables({ messages: [] })

/** Returns the error of a render as `Class at line: message`, or the rendered text. */
function failure(template: string, given = {}): string {
  try {
    return render(template, given)
  } catch (error) {
    if (!(error instanceof LocatedError)) throw error
    return `${error.className} at ${error.line}: ${error.message}`
  }
}

test.each(['safe', 'e', 'forceescape', 'xmlattr'])(
  'an empty text is false after the filter %s, as in Python',
  (filter) => {
    const value = filter === 'xmlattr' ? '{}' : "''"
    expect(render(`{{ (${value} | ${filter}) or 'none' }}{% if ${value} | ${filter} %}some{% endif %}`)).toBe('none')
    expect(render(`{% if 'a' | ${filter === 'xmlattr' ? 'safe' : filter} %}some{% endif %}`)).toBe('some')
  },
)

describe('a compiled template', () => {
  test('keeps nothing of an earlier render', () => {
    const template = compileTemplate(
      "{% if first %}{% set a = 'set' %}{% macro m() %}{{ a }}{% endmacro %}{% endif %}{{ a }}{{ m is defined }}",
    )
    expect(template.render(variables({ first: true }))).toBe('setTrue')
    expect(template.render(variables({ first: false }))).toBe('False')
  })

  test('renders again after a render that failed within macros and blocks', () => {
    const template = compileTemplate(
      '{% macro m() %}{% set x %}a{{ y + 1 }}{% endset %}{{ x }}{% endmacro %}<{{ m() }}>',
    )
    expect(() => template.render(NAMES)).toThrow("'y' is undefined")
    expect(template.render(variables({ y: 1 }))).toBe('<a2>')
  })

  test('leaves the variables of the caller unchanged', () => {
    const given = variables({ a: [1], b: { c: 1 } })
    const before = [...given]
    compileTemplate('{% set a = 2 %}{% set b = namespace(c=2) %}{% set b.c = 3 %}{{ b.c }}').render(given)
    expect([...given]).toEqual(before)
  })
})

describe('the line of an error', () => {
  test('is the line of the running statement or output; within a macro, a line of its body', () => {
    expect(failure('\n{{ 1 }}\n{{ a.b }}')).toBe("UndefinedError at 3: 'a' is undefined")
    expect(failure('{% macro m() %}\n{{ a.b }}\n{% endmacro %}\n{{ m() }}')).toBe(
      "UndefinedError at 2: 'a' is undefined",
    )
    expect(failure('{% macro m() %}\nx\n{% endmacro %}\n{{ m() + a.b }}')).toBe("UndefinedError at 4: 'a' is undefined")
    expect(failure('{% for x in [1]\n if a.b %}\n{% endfor %}')).toBe("UndefinedError at 2: 'a' is undefined")
  })

  test('is the line of the last statement before it if jinja2 records none', () => {
    expect(failure('{{ 1 }}\n{% set x = 1 %}\n\n{% set x.y = 1 %}')).toBe(
      'TemplateRuntimeError at 2: cannot assign attribute on non-namespace object',
    )
    expect(failure('{% if true %}{% endif %}\n\n{% with a = b.c %}{% endwith %}')).toBe(
      "UndefinedError at 1: 'b' is undefined",
    )
  })

  test('is reported before the render if a filter or test is unknown, except within branches', () => {
    expect(() => compileTemplate('\n{{ 1|nope }}')).toThrow("No filter named 'nope'.")
    expect(render('{% if false %}{{ 1|nope }}{% endif %}')).toBe('')
    expect(failure('\n{% if true %}{{ 1 is nope }}{% endif %}')).toBe(
      "TemplateRuntimeError at 2: No test named 'nope' found.",
    )
  })
})

describe('an error of a template that Python itself raises', () => {
  test.each([
    [
      '{% block k %}{{ self.k(1) }}{% endblock %}',
      'TypeError at 1: BlockReference.__call__() takes 1 positional argument but 2 were given',
    ],
    [
      '{% for x in [1] %}{{ loop(1, 2) }}{% endfor %}',
      'TypeError at 1: LoopContext.__call__() takes 2 positional arguments but 3 were given',
    ],
    ['{% for x in self %}{% endfor %}', 'KeyError at 1: 0'],
    ['{% set x.y %}{% endset %}', "TypeError at 1: '_MissingType' object does not support item assignment"],
    ['{% set x = [] %}\n{% set x.y %}{% endset %}', 'TypeError at 2: list indices must be integers or slices, not str'],
    [
      "{% set x %}{% set y|replace('a', b) %}{% endset %}{% endset %}",
      "AssertionError at undefined: Tried to resolve a name to a reference that was unknown to the frame ('b')",
    ],
    [
      "{% break %}{% set y|replace('a', b) %}{% endset %}",
      "AssertionError at undefined: Tried to resolve a name to a reference that was unknown to the frame ('b')",
    ],
    ['{{ 1 }}\n{{ "text" }}\n{% with a = b.c %}{% endwith %}', "UndefinedError at 1: 'b' is undefined"],
  ])('has the same class, line and message: %s', (template, expected) => {
    expect(failure(template)).toBe(expected)
  })

  test('does not occur for the repr of a namespace that contains itself', () => {
    expect(render('{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}')).toBe("<Namespace {'x': <Namespace {...}>}>")
  })
})

describe('generation blocks of a template', () => {
  const spans = (template: string) => {
    const { text, generation, hasGenerationTag } = compileTemplate(template).trace(NAMES)
    expect(hasGenerationTag).toBe(template.includes('generation'))
    return generation.map(({ start, end }) => text.slice(start, end))
  }

  test('are measured in UTF-16 units', () => {
    expect(spans('😀a{% generation %}b😀{% endgeneration %}c{% generation %}{% endgeneration %}')).toEqual(['b😀', ''])
    expect(spans('😀a')).toEqual([])
  })

  test('are measured by the text that the template itself has written, as in transformers', () => {
    expect(spans('ab{% set x %}cd{% generation %}ef{% endgeneration %}{% endset %}😀{{ x }}')).toEqual(['😀c'])
    expect(spans('{% set x %}{% generation %}abc{% endgeneration %}{% endset %}a')).toEqual(['a'])
  })
})

test('powers of negative numbers are those of jinja2, which computes them itself or leaves them to Python', () => {
  // Printed by jinja2 3.1.6.
  const cases: Readonly<Record<string, string>> = {
    '-2 ** 2': '4',
    '-2 ** -1': '-0.5',
    '-2 ** i': '-4',
    '(-2) ** i': '-4',
    '- -2 ** i': '4',
    '-1.5 ** i': '-2.25',
    '-3 ** i * 2': '-18',
    '5 - -2 ** i': '9',
    '-2 ** i ** 2': '16',
    '-i ** 2': '4',
    '2 ** -i': '0.25',
  }
  for (const [expression, printed] of Object.entries(cases))
    expect([expression, render(`{{ ${expression} }}`, { i: 2 })]).toEqual([expression, printed])
})

test('strftime_now reads the clock of the caller', () => {
  const clock = () => new Date(2030, 1, 3)
  expect(compileTemplate("{{ strftime_now('%d %B %Y') }}").render(NAMES, { clock })).toBe('03 February 2030')
})

test('a template that leaves loops and blocks early renders the rest', () => {
  expect(
    render('{% for a in [1, 2] %}{% set x %}{% filter upper %}{% break %}{% endfilter %}{% endset %}{% endfor %}b'),
  ).toBe('b')
  expect(
    render(
      '{% for a in [1, 2] %}{% for b in "cd" %}{% if a == 1 %}{% continue %}{% endif %}{{ b }}{% endfor %}{{ a }}{% endfor %}',
    ),
  ).toBe('1cd2')
})

test('a render beyond its budget throws LocatedError', () => {
  const budget = { ...DEFAULT_BUDGET, size: 100 }
  expect(() => compileTemplate("{{ 'a' * 101 }}").render(NAMES, { budget })).toThrow(LocatedError)
  expect(compileTemplate("{{ 'a' * 100 }}").render(NAMES, { budget })).toHaveLength(100)
})
