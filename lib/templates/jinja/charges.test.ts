/** No expression may make or do far more than it is charged for: the render that contains it must end. */
import { expect, test } from 'vitest'
import { LocatedError } from './syntax/syntax.ts'
import { compileTemplate } from './template.ts'

/** The clock never advances, so that only sizes and steps end a render here, on any machine. */
const settings = { budget: { steps: 2_000_000, size: 1_000_000, milliseconds: 1 }, now: () => 0 }

function endOf(template: string): string {
  try {
    compileTemplate(template).render(new Map(), settings)
    return 'rendered'
  } catch (error) {
    if (error instanceof LocatedError) return error.className
    throw error
  }
}

const tooMuch = String.raw`
'a' * 10**9
[0] * 10**9
'a'.center(10**9)
'a'.ljust(10**9)
'a'.zfill(10**9)
'\t'.expandtabs(10**9)
('\t' * 10**5).expandtabs(1000)
('a' * 10**5).replace('a', 'b' * 1000)
('a' * 10**5).replace('', 'b' * 1000)
('a' * 10**5)|list|join('b' * 1000)
('ab' * 10**5).translate({97: 'x' * 1000})
'%1000000000d' % 1
'%.1000000000f' % 1.5
'%*d' % (10**9, 1)
'{:1000000000}'.format(1)
'{:.1000000000f}'.format(1.5)
'{:>1000000000}'.format('a')
'{:{}}'.format('a', 10**9)
2 ** 100000000
10 ** (10 ** 30)
(10 ** 4000) ** 10000
[1]|batch(10**9, 1)|list
[1]|slice(10**9)|list
'a'|indent(10**9)
('a\n' * 10**5)|indent(1000)
('-' * 10**5)|wordwrap(10)
lipsum(10**6)
lipsum(1, false, 10**9)
strftime_now('%900000000d' * 10**4)
('a' * 10**6).swapcase()
('a' * 10**6).title()
`
  .trim()
  .split('\n')

test.each(tooMuch)('a render is ended by its budget: %s', (expression) => {
  expect(endOf(`{{ ${expression} }}`)).toBe('BudgetError')
})

/** `ns.a` contains the previous tuple twice, thirty levels deep: a few tuples in memory, a billion in any walk. */
const GROWN = `{% set ns = namespace(a=(1,), b=(1,)) %}{% for i in range(30) %}{% set ns.a = (ns.a, ns.a) %}{% set ns.b = (ns.b, ns.b) %}{% endfor %}`

test.each([
  '{{ ns.a }}',
  '{{ ns.a|tojson }}',
  '{{ ns.a|pprint }}',
  '{{ ns.a == ns.b }}',
  '{{ ns.a < ns.b }}',
  '{{ {ns.a: 1} }}',
])('a walk over shared parts is ended by the budget: %s', (use) => {
  expect(endOf(GROWN + use)).toBe('BudgetError')
})

const NESTED = `{% set ns = namespace(a=(1,), b=(1,)) %}{% for i in range(20000) %}{% set ns.a = (ns.a,) %}{% set ns.b = (ns.b,) %}{% endfor %}`

test.each(['{{ ns.a }}', '{{ ns.a|tojson }}', '{{ ns.a|pprint }}', '{{ ns.a == ns.b }}', '{{ {ns.a: 1} }}'])(
  'a walk over 20,000 nested tuples raises RecursionError: %s',
  (use) => {
    expect(endOf(NESTED + use)).toBe('RecursionError')
  },
)

test.each([
  ['arguments', (names: string) => `{{ dict(${names}) }}`],
  ['parameters', (names: string) => `{% macro m(${names}) %}{% endmacro %}`],
])('a template with 40,000 named %s is compiled in the time of a test', (_, templateOf) => {
  const names = Array.from({ length: 40_000 }, (_, index) => `a${index}=1`).join(',')
  expect(() => compileTemplate(templateOf(names))).not.toThrow()
})
