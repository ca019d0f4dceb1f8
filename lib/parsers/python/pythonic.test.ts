import { describe, expect, test } from 'vitest'
import { literalJson } from '#lib/json/python-literal.ts'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { pythonic } from './pythonic.ts'

const drawn = (text: string) => describeCalls(parseText(pythonic, text)).map((line) => line.replace(/ @\d+$/, ''))
const rest = (text: string) => textWithoutCalls(text, parseText(pythonic, text), [], pythonic)

describe('pythonic parser with a list of calls', () => {
  test('returns names, arguments and positions', () => {
    const text = `So:\n[add(a=1.0, b='é'), ns.get-it()]<|eom|>`
    const calls = parseText(pythonic, text)
    expect(calls).toMatchObject([
      { name: 'add', input: { a: 1, b: 'é' } },
      { name: 'ns.get-it', input: {} },
    ])
    expect(calls.map((call) => textInRange(text, call.text))).toEqual([`add(a=1.0, b='é')`, 'ns.get-it()'])
    const [first] = calls
    expect(
      first?.kind === 'parsed' &&
        first.arguments.map(({ key, text: at }) => textInRange(text, key) + textInRange(text, at)),
    ).toEqual(['a1.0', `b'é'`])
    expect(rest(text)).toBe('So:\n<|eom|>')
  })

  test.each([
    ['[f(), g(),]', ['f({})', 'g({})'], ''],
    ['[\n  f(\n    a = 1,\n  ),\n  g()\n]', ['f({"a":1})', 'g({})'], ''],
    ['<|python_start|>[f()]<|python_end|><|eot|>', ['f({})'], '<|eot|>'],
    ['<think>[f()]</think>[g()]', ['g({})'], '<think>[f()]</think>'],
    ['First [f()] and [g()].', ['f({})', 'g({})'], 'First  and .'],
    [`[f(a='[g(b=1)]')]`, ['f({"a":"[g(b=1)]"})'], ''],
    ['[f(__proto__=1)]', ['f({"__proto__":1})'], ''],
    ['See [f(x)](y), [g](z), [h() here and [1].', [], 'See [f(x)](y), [g](z), [h() here and [1].'],
  ])('reads %s', (text, calls, left) => {
    expect(drawn(text)).toEqual(calls)
    if (!text.includes('<think>')) expect(rest(text)).toBe(left)
  })
})

describe('pythonic parser with malformed text', () => {
  test.each([
    ['[f(1)]', ['✗ an argument has no name']],
    ['[f(a=1, 2), g()]', ['✗ an argument has no name', 'g({})']],
    ['[f(*x), g(**{"a": [1, ")"]})]', ['✗ an argument has no name', '✗ an argument has no name']],
    ['[f(a=1, a=2)]', ['✗ "a" is given twice']],
    ['[f(a==1)]', ['✗ an argument has no name']],
    ['[f(a=x)]', ['✗ "a": a Python literal is expected here']],
    ['[f(a=1 + 2), g(b=2)]', ['✗ "a" is not a literal: its expression continues', 'g({"b":2})']],
    [`[f(a="x".join(['a', "b"])), g()]`, ['✗ "a" is not a literal: its expression continues', 'g({})']],
    ['[f(a=true)]', ['✗ "a": a Python literal is expected here']],
    ['[f(a=1), g', ['✗ expected "("']],
    ['[f(a=1), 2]', ['✗ expected the name of a call']],
    ['[f(a=1) g(b=2)]', ['✗ the list of calls is not closed']],
    ['[f(a=1', ['✗ "a" is not a literal: its expression continues'].map(() => '✗ the list of calls is not closed')],
    ['[f(a=1]', ['✗ the list of calls is not closed']],
    ['[f(a=x(]', ['✗ the list of calls is not closed']],
    [`[f(a=x("]`, ['✗ the list of calls is not closed']],
    [`[f(a='x)]`, ['✗ "a": a text is not closed']],
    [`[f(a='''x)]`, ['✗ "a": a text is not closed']],
  ])('reports the reason and position for %s', (text, why) => {
    expect(drawn(text)).toEqual(why)
  })

  test('ends a broken list at its last bracket, or with its line', () => {
    expect(rest('[f(a=1 b=2)] so\nnext')).toBe(' so\nnext')
    expect(rest('[f(a=1, g(\nnext')).toBe('\nnext')
    expect(rest('[f(a=1, g(<|eot|>')).toBe('<|eot|>')
    expect(drawn('[f(a=1, g(\n[h()]')).toEqual(['✗ the list of calls is not closed', 'h({})'])
    expect(parseText(pythonic, '[f(a=1), (')).toMatchObject([{ kind: 'malformed' }])
    expect(parseText(pythonic, '[f(a=1), (')[0]).not.toHaveProperty('name')
    expect(parseText(pythonic, '[f(a=1')).toMatchObject([{ name: 'f' }])
  })
})

describe('pythonic parser with literals', () => {
  test.each([
    ['True', 'true'],
    ['False', 'false'],
    ['None', 'null'],
    ['1.0', '1.0'],
    ['-1.50', '-1.50'],
    ['+1', '1'],
    ['1_000', '1000'],
    ['00', '0'],
    ['1.', '1.0'],
    ['.5', '0.5'],
    ['1e-3', '1e-3'],
    ['0x1F', '31'],
    ['-0b101', '-5'],
    ['0o17', '15'],
    ['12345678901234567890123', '12345678901234567890123'],
    [`'it\\'s'`, `"it's"`],
    [`"a" 'b'`, '"ab"'],
    [`r'\\d'`, '"\\\\d"'],
    [`u"x"`, '"x"'],
    [`'\\d\\n\\t\\\\'`, '"\\\\d\\n\\t\\\\"'],
    [`'\\x41\\u00e9\\U0001f642\\101\\0'`, '"Aé🙂A\\u0000"'],
    [`'a\\\nb'`, '"ab"'],
    [`'''a\n'b' "c"'''`, `"a\\n'b' \\"c\\""`],
    [`"""a "b" c"""`, '"a \\"b\\" c"'],
    ['[1.0, [True,],]', '[1.0, [true]]'],
    [`{'a': {'b': None}, "c": [],}`, '{"a": {"b": null}, "c": []}'],
    [' [ ] ', '[]'],
    [' { } ', '{}'],
  ])('reads %s as %s', (literal, json) => {
    expect(literalJson(literal)).toBe(json)
  })

  test.each([
    ['01', '-', '', 'x', 'true', '1j', '1e999', '0x', '1.2.3', 'True1', '--1', '.'],
    ['(1, 2)', '{1, 2}', '{1: 2}', `{'a'}`, `{'a': x}`, `{'a': 1 'b': 2}`, '[1 2]', '[x]', `{'a: 1}`, '[', '{', '1 2'],
    [`b'x'`, `f'x'`, `br'x'`, `xy'x'`, `'\\N{BULLET}'`, `'\\x4'`, `'\\Uffffffff'`, `'x\ny'`, `'''x`, `'x`, `x'y'`],
  ])('refuses %s …', (...literals) => {
    expect(literals.map((literal) => literalJson(literal))).toEqual(literals.map(() => undefined))
  })
})

// Searching each name among all others would take more than a minute.
test('pythonic parser reads a call with a hundred thousand arguments in linear time', () => {
  const names = Array.from({ length: 100_000 }, (_, index) => `a${index}`)
  const [call] = parseText(pythonic, `[f(${names.map((name) => `${name}=1`).join(', ')})]`)
  expect(call?.kind === 'parsed' && call.arguments.length).toBe(names.length)
})
