import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parserNamed, parsers } from '#lib/parsers/registry.ts'
import { FRAGMENTS } from '#lib/parsers/test-texts.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { runs } from '#testing/property-runs.ts'
import { analyse, type ParserReading } from './analysis.ts'
import type { Tile } from './tiles.ts'

const laneOf = (name: string, text: string, tools: readonly ToolSpec[] = []): ParserReading => {
  const parser = parserNamed(name)
  if (!parser) throw new Error(name)
  return analyse(text, parser, tools)
}

/** Returns the text with `⟨part text⟩` for each tile, except for markers and rest, which remain unchanged. */
const draw = (text: string, { tiles }: ParserReading): string =>
  tiles
    .map(({ start, end, part }) => {
      const own = text.slice(start, end)
      return part === 'marker' || part === 'rest' ? own : `⟨${part} ${own}⟩`
    })
    .join('')

const textOf = (text: string, tiles: readonly Tile[]) => tiles.map(({ start, end }) => text.slice(start, end)).join('')

const anyText = fc
  .array(fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ maxLength: 3 })), { maxLength: 60 })
  .map((parts) => parts.join(''))
const anyTools = fc.option(
  fc
    .constantFrom('string', 'integer', 'object', ['string', 'null'], ['number', 'boolean'], 'unheard-of')
    .map((type) => [{ name: 'f', inputSchema: { required: ['b'], properties: { a: { type, enum: [1, 'f'] } } } }]),
  { nil: [] },
)

/** Checks a lane with assert, because expect takes as long as an analysis and thousands of lanes are checked. */
function checkLane(text: string, lane: ParserReading) {
  let end = 0
  for (const tile of lane.tiles) {
    assert.equal(tile.start, end)
    assert.ok(tile.end > tile.start)
    end = tile.end
  }
  assert.equal(end, text.length)
  assert.equal(
    textOf(
      text,
      lane.tiles.filter(({ part }) => part === 'rest' || part === 'think'),
    ),
    lane.rest,
  )
  const droppedTiles = lane.tiles.filter(({ part }) => part === 'dropped')
  assert.deepEqual(
    lane.dropped.map(({ start, end: until }) => [start, until]),
    droppedTiles.map(({ start, end: until }) => [start, until]),
  )
  for (const [index, call] of lane.calls.entries()) {
    const own = lane.tiles.filter((tile) => tile.call === index)
    assert.deepEqual([own[0]?.start, own.at(-1)?.end], [call.span.start, call.span.end])
    if (call.kind === 'malformed') {
      const { offset, line, column } = call.at
      const lines = text.slice(0, offset).split('\n')
      assert.deepEqual([line, column], [lines.length, [...(lines.at(-1) as string)].length + 1])
      continue
    }
    assert.equal(new Set(call.arguments.map(({ name }) => name)).size, call.arguments.length)
  }
}

test.each(parsers)(
  '$name reads any text: tiles are the text, rest and dropped are parts of it, and nothing throws',
  (parser) => {
    fc.assert(
      fc.property(anyText, anyTools, (text, tools) => {
        const lane = analyse(text, parser, tools)
        checkLane(text, lane)
        assert.deepEqual(structuredClone(lane), lane)
      }),
      { numRuns: runs(600) },
    )
  },
)

const { cases } = JSON.parse(readFileSync(new URL('../../parsers/golden/golden.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly { readonly text: string }[]
}

test.each(parsers.slice(0, 4))(
  '$name reads the texts of strands-sglang: tiles are the text, and types are those of the JSON',
  (parser) => {
    let values = 0
    for (const { text } of cases) {
      const lane = analyse(text, parser, [])
      checkLane(text, lane)
      for (const call of lane.calls) {
        if (call.kind === 'malformed') continue
        for (const { json, type, span } of call.arguments) {
          const value: unknown = JSON.parse(json)
          assert.equal(
            type,
            value === null
              ? 'null'
              : Array.isArray(value)
                ? 'array'
                : Number.isInteger(value)
                  ? 'integer'
                  : typeof value,
          )
          const written = text.slice(span.start, span.end)
          if (value !== written) assert.deepEqual(JSON.parse(written), value)
          values++
        }
      }
    }
    expect(values).toBeGreaterThan(60)
  },
)

test.each([
  '<tool_call>',
  '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1, "a": 2}<|tool_call_end|><|tool_calls_section_end|><think></think>',
])('parsing takes linear time: ten times as many %s take less than a hundred times as long', (unit) => {
  const time = (count: number, name: string) => {
    const text = unit.repeat(count)
    const before = process.threadCpuUsage().user
    laneOf(name, text)
    return process.threadCpuUsage().user - before
  }
  for (const { name } of parsers) {
    time(300, name)
    expect(time(6000, name)).toBeLessThan(100 * Math.max(1000, time(600, name)))
  }
})

describe('the analysis of a text', () => {
  test('by hermes has names, keys, values and dropped members', () => {
    const text = 'Hm. <tool_call>{"name": "f", "id": 7, "arguments": {"a": 1.0, "b": [2]}}</tool_call> ok'
    const lane = laneOf('hermes', text)
    expect(draw(text, lane)).toBe(
      'Hm. <tool_call>{"name": ⟨name "f"⟩, ⟨dropped "id": 7⟩, "arguments": {⟨key "a"⟩: ⟨value 1.0⟩, ⟨key "b"⟩: ⟨value [2]⟩}}</tool_call> ok',
    )
    expect(lane.dropped.map(({ why }) => why)).toEqual(['an unused member'])
    expect(lane.calls).toMatchObject([
      {
        name: 'f',
        arguments: [
          { name: 'a', json: '1.0', type: 'integer', loss: '1.0, a float, is kept as 1' },
          { name: 'b', json: '[2]', type: 'array' },
        ],
      },
    ])
    expect(lane.rest).toBe('Hm.  ok')
  })

  test('by qwen_xml and glm has bare texts, typed by the schema, and words of the format', () => {
    const tools = [
      { name: 'f', inputSchema: { properties: { a: { type: 'string' }, b: { type: 'boolean' } }, required: ['c'] } },
    ]
    const xml =
      '<tool_call><function=f><parameter=a>\n42\n</parameter><parameter=b>True</parameter></function></tool_call>'
    const lane = laneOf('qwen_xml', xml, tools)
    expect(draw(xml, lane)).toBe(
      '<tool_call><function=⟨name f⟩><parameter=⟨key a⟩>\n⟨value 42⟩\n</parameter><parameter=⟨key b⟩>⟨value True⟩</parameter></function></tool_call>',
    )
    expect(lane.calls).toMatchObject([
      {
        isKnown: true,
        fault: '"c" is required and missing',
        arguments: [
          { json: '"42"', type: 'string', wanted: ['string'] },
          { json: 'true', type: 'boolean', wanted: ['boolean'] },
        ],
      },
    ])
    const glm = '<tool_call>f\n<arg_key> a </arg_key><arg_value>9007199254740993</arg_value></tool_call>'
    const read = laneOf('glm', glm)
    expect(draw(glm, read)).toBe(
      '<tool_call>⟨name f⟩\n<arg_key> ⟨key a⟩ </arg_key><arg_value>⟨value 9007199254740993⟩</arg_value></tool_call>',
    )
    expect(read.calls).toMatchObject([
      { arguments: [{ json: '9007199254740993', loss: '9007199254740993 is kept as 9007199254740992' }] },
    ])
  })

  test('by kimi_k2 has the id and its section, and drops tags around nothing', () => {
    const call = '<|tool_call_begin|>functions.f:3<|tool_call_argument_begin|>{"a": "x"}<|tool_call_end|>'
    const open = '<|tool_calls_section_begin|>'
    const close = '<|tool_calls_section_end|>'
    const text = `${open}${call}${close}a${open}b${close}c${close}${open}`
    const lane = laneOf('kimi_k2', text)
    expect(draw(text, lane)).toBe(
      `${open}<|tool_call_begin|>functions.⟨name f⟩:3<|tool_call_argument_begin|>{⟨key "a"⟩: ⟨value "x"⟩}<|tool_call_end|>${close}a⟨dropped ${open}⟩b⟨dropped ${close}⟩c⟨dropped ${close}⟩⟨dropped ${open}⟩`,
    )
    expect(lane.dropped.map(({ why }) => why)).toEqual([
      'a section without calls',
      'a section without calls',
      'a closing tag without a section',
      'a section without calls',
    ])
  })

  test('has line, column and expected text of a fault', () => {
    const text = 'é💡\n<tool_call>\n{"name": "f",\n "arguments": {"a": x}}\n</tool_call>'
    expect(laneOf('hermes', text).calls).toMatchObject([
      { kind: 'malformed', why: '"x" where a JSON value is expected', at: { line: 4, column: 21 } },
    ])
  })

  test('takes a text that first closes a think block for one that begins in it, unless a call contains the closing', () => {
    const call = (text: string) => `<tool_call>{"name": "f", "arguments": {"a": ${JSON.stringify(text)}}}</tool_call>`
    const text = `Perhaps ${call('draft')}.</think>\n${call('said')}`
    const lane = laneOf('hermes', text)
    expect(lane.calls).toMatchObject([{ kind: 'parsed', arguments: [{ json: '"said"' }] }])
    expect(lane.drafted).toMatchObject([{ name: 'f' }])
    expect(laneOf('hermes', call('a </think> b')).calls).toMatchObject([{ arguments: [{ json: '"a </think> b"' }] }])
    expect(laneOf('hermes', `Perhaps ${call('draft')}.[/THINK]`).calls).toEqual([])
  })

  test('does not read a call in a think block, and reports it as drafted', () => {
    const text = '<think><tool_call>{"name": "f"}</tool_call></think>\n'
    const lane = laneOf('hermes', text)
    expect(lane.calls).toEqual([])
    expect(lane.drafted.map(({ start, end, name }) => [text.slice(start, end), name])).toEqual([
      ['<tool_call>{"name": "f"}</tool_call>', 'f'],
    ])
    expect(lane.rest).toBe(text)
  })

  test.each([
    [{ a: 1 }, undefined],
    [{ a: 1.5 }, undefined],
    [{ a: 'x' }, '"a" is a string, the schema wants a number'],
    [{ a: 1, b: 'q' }, '"b" is not one of "p", null'],
    [{ a: 1, b: null }, undefined],
    [{ a: 1, z: 1 }, '"z" is not an argument of the tool'],
    [{}, '"a" is required and missing'],
  ])('compares the arguments %j with the schema', (input, fault) => {
    const inputSchema = {
      properties: { a: { type: 'number' }, b: { enum: ['p', null] } },
      required: ['a'],
      additionalProperties: false,
    }
    const text = `<tool_call>${JSON.stringify({ name: 'f', arguments: input })}</tool_call>`
    const [call] = laneOf('hermes', text, [{ name: 'f', inputSchema }]).calls
    expect(call?.kind === 'parsed' && call.fault).toBe(fault)
  })
})
