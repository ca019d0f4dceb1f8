import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isObject } from '#lib/json/json-object.ts'
import { parsePythonJson } from '#lib/json/python-json.ts'
import { encode } from '#lib/trajectory/format/codec.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { LIMITS, type Limits } from '#lib/util/limits.ts'
import { describeValue } from '#lib/util/schema-violation.ts'
import { runs } from '#testing/property-runs.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { anyText } from '#testing/strings.ts'
import { source } from '#testing/trajectories.ts'
import { type ByteSource, memoryTools } from '../containers/container.ts'
import type { Format } from '../format.ts'
import { writableFormats } from '../registry.ts'
import { strandsSglang } from '../strands-sglang.ts'
import { slime } from '../trainers/slime.ts'
import { openFile, openText } from './open.ts'

const rollout = (...token_ids: number[]) => ({ token_ids, loss_mask: token_ids.map(() => 0) })
const slimeSample = { tokens: [1, 2], response_length: 1, loss_mask: [1], rollout_log_probs: [-1], status: 'completed' }

/** Returns the format, the ids of each trajectory and the problems of other records, or the problem of the file. */
function opened(
  text: string,
  ...as: Parameters<typeof openText> extends [unknown, unknown, ...infer Rest] ? Rest : never
): string {
  const found = openText(text, source, ...as)
  if (!found.ok) return found.error.message
  const { format, trajectories, failed } = found
  const all = trajectories.map((trajectory) => ids(trajectory).join()).join(' ')
  return [`${format.name} ${all}`, ...failed.map(({ message }) => message)].join(' | ')
}

describe('openFile', () => {
  test.each<[string, string, string]>([
    ['of one record', JSON.stringify(rollout(1, 2)), 'strands-sglang 1,2'],
    ['with a byte order mark', `\uFEFF${JSON.stringify(rollout(1))}`, 'strands-sglang 1'],
    ['of several lines', JSON.stringify(rollout(1, 2), null, 2), 'strands-sglang 1,2'],
    ['of JSON lines', `${JSON.stringify(rollout(1))}\n\r\n${JSON.stringify(rollout(2))}\n`, 'strands-sglang 1 2'],
    ['of lists in lines', `[${JSON.stringify(rollout(1))}]\n[${JSON.stringify(rollout(2))}]`, 'strands-sglang 1 2'],
    ['of a list', JSON.stringify([slimeSample, slimeSample]), 'slime 1,2 1,2'],
    ['of a dump of samples', JSON.stringify({ rollout_id: 3, samples: [slimeSample] }), 'slime 1,2'],
    ['of our own', encode(sample), `rollscope ${ids(sample).join()}`],
    [
      'of our own in lines',
      `${JSON.stringify(sample)}\n${JSON.stringify(sample)}\n`,
      `rollscope ${ids(sample).join()} ${ids(sample).join()}`,
    ],
    ['with NaN', '{"token_ids": [1], "logprobs": [NaN]}', 'strands-sglang 1'],
  ])('%s', (_what, text, expected) => {
    expect(opened(text)).toBe(expected)
  })

  test('accepts a given format', () => {
    expect(opened(JSON.stringify(slimeSample), slime)).toBe('slime 1,2')
    expect(opened(JSON.stringify(rollout(1)), slime)).toBe(
      'expected a trajectory of slime, found a record of strands-sglang',
    )
  })

  test('records the file’s name and the missing information', () => {
    const found = openText(JSON.stringify(rollout(1)), source)
    expect(found.ok && found.trajectories[0]).toMatchObject({
      id: 'new',
      createdAt: source.now,
      provenance: { kind: 'import', format: 'strands-sglang', file: 'run.json' },
    })
    const nameless = openText(JSON.stringify(rollout(1)), { ...source, file: undefined })
    expect(nameless.ok && nameless.trajectories[0]?.provenance).not.toHaveProperty('file')
  })
})

test.each([
  '{"token_ids": [1]}{"token_ids": [2]}',
  '{\n"token_ids": [1]\n}\n{\n"token_ids": [2]\n}',
  '[\n{"token_ids": [1]}\n]\n[\n{"token_ids": [2]}\n]\n',
])('Values that follow each other are records, also of several lines: %j', (text) => {
  const found = openText(text, source)
  expect(found.ok && found.trajectories.map(({ segments }) => segments[0]?.ids)).toEqual([[1], [2]])
})

test('A value of several lines that does not open is reported with its first line', () => {
  const found = openText('{\n"token_ids": [1]\n}\n\n{\n"token_ids": ["x"]\n}\n', source)
  expect(found).toMatchObject({ trajectories: [{}], failed: [{ line: 5, path: 'token_ids[0]' }] })
})

test('A value that Python printed gets the calls that make it JSON', () => {
  const found = openText("{'token_ids': [1]}", source)
  expect(!found.ok && found.error.hint).toContain('json.dumps(ast.literal_eval(text))')
})

describe('a wrong file reports what is wrong, where, and what to do for', () => {
  test.each<[string, string, string | RegExp]>([
    ['nothing', '', 'expected a trajectory, found none in this file'],
    ['half of JSON', '{"token_ids": [1,\n 2', /^expected JSON, found /],
    ['one broken line', '{"token_ids": [1', /^expected JSON, found /],
    ['words', 'hello\nworld', /^line 1: expected JSON, found /],
    ['a printed value', "{'token_ids': [1]}", /^expected JSON, found a Python literal: "'" where .+ \(column 2\)$/],
    ['a printed word', '[{"token_ids": None}]', /^\[0\]: expected JSON, found a Python literal: "N" where /],
    ['an empty list', '[]', 'expected a trajectory, found none in this file'],
    [
      'another object',
      '{"hello": 1}',
      'expected a trajectory in a format that Rollscope opens, found an object with hello',
    ],
    ['a number', '7', /found 7$/],
    [
      'a newer version',
      '{"format": "rollscope.trajectory/9"}',
      /written by a newer Rollscope.*update it to open this file/,
    ],
    [
      'a value missing in a text of several lines',
      '{\n  "token_ids": [1,, 2]\n}',
      'expected JSON, found "," where a JSON value is expected (line 2, column 19)',
    ],
    [
      'a text that is cut off',
      '{"token_ids": [1, 2',
      'expected JSON, found the text ends where "," or "]" is expected (column 20)',
    ],
    [
      'an error behind numbers that only Python writes',
      '{"logprobs": [NaN, -Infinity, nul]}',
      'expected JSON, found "n" where a JSON value is expected (column 31)',
    ],
    [
      'an error behind a name that is there twice',
      '{"token_ids": [1], "token_ids": [2], }',
      'expected JSON, found "}" where a member name in double quotes is expected (column 38)',
    ],
    [
      'a number that only Python writes within another number',
      '{"logprobs": [-1NaN]}',
      /^expected JSON, found .* where "," or "\]" is expected \(column 17\)$/,
    ],
    [
      'nesting without end',
      `{"token_ids": [1], "x": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      'expected JSON, found it is nested deeper than 100 levels (byte 124)',
    ],
    [
      'nesting that is not even JSON',
      `{"token_ids": [1], "x": ${'['.repeat(100_000)}`,
      'expected JSON, found it is nested deeper than 100 levels (byte 124)',
    ],
    ['an element missing', '[,2]', '[0]: expected JSON, found a list with an element missing (byte 2)'],
  ])('%s', (_what, text, expected) => {
    if (typeof expected === 'string') expect(opened(text)).toBe(expected)
    else expect(opened(text)).toMatch(expected)
  })

  test.each(['{"token_ids": [1', '[{"token_ids": [1]},', '{"token_ids": "a'])(
    '%s says that it is cut off',
    async (text) => {
      const problems = await Array.fromAsync(openFile(sourceOf(bytesOf(text)), source))
      expect(problems.map((one) => (one.ok ? 'opened' : one.error.hint)).at(-1)).toBe(
        'The record is cut off: write or copy the file again.',
      )
    },
  )

  test('openFile says where the supported formats are listed', () => {
    const other = openText('{}', source)
    expect(!other.ok && other.error.hint).toMatch(
      /^Rollscope opens JSON, JSON lines, tables and archives of \d+ formats, which docs\/formats.md lists/,
    )
  })

  test('openFile treats names that JavaScript gives a meaning as data', () => {
    const found = openText('{"token_ids": [1], "__proto__": {"polluted": 1}, "constructor": 2}', source)
    expect(found.ok && JSON.stringify(found.trajectories[0]?.foreign)).toBe(
      '{"strands-sglang":{"__proto__":{"polluted":1},"constructor":2}}',
    )
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
    if (!found.ok) return
    const back = openText(encode(found.trajectories[0] as typeof sample), source)
    expect(back).toMatchObject({ ok: true, trajectories: [found.trajectories[0]] })
  })
})

describe('a wrong record costs only itself:', () => {
  test.each<[string, string, string]>([
    [
      'a broken line of several',
      `${JSON.stringify(rollout(1))}\n{"token_ids": \n${JSON.stringify(rollout(2))}`,
      'strands-sglang 1 2 | line 2: expected JSON, found the text ends where a JSON value is expected (column 15)',
    ],
    [
      'an error in a line of several',
      `${JSON.stringify(rollout(1))}\n{"token_ids": [1}`,
      'strands-sglang 1 | line 2: expected JSON, found "}" where "," or "]" is expected (column 17)',
    ],
    [
      'a record of another format',
      JSON.stringify([rollout(1), slimeSample]),
      'strands-sglang 1 | [1]: expected a trajectory of strands-sglang, found a record of slime',
    ],
    [
      'records before the first that is recognised, which decides the format',
      `7\n{"hello": 1}\n${JSON.stringify(slimeSample)}\n${JSON.stringify(rollout(1))}`,
      'slime 1,2 | line 1: expected a trajectory in a format that Rollscope opens, found 7 | line 2: expected a trajectory in a format that Rollscope opens, found an object with hello | line 4: expected a trajectory of slime, found a record of strands-sglang',
    ],
    [
      'a wrong record in a list',
      JSON.stringify([rollout(1), { token_ids: ['x'] }, rollout(2)]),
      'strands-sglang 1 2 | [1].token_ids[0]: expected a number, found "x"',
    ],
    [
      'a wrong record in a line',
      `${JSON.stringify(rollout(1))}\n${JSON.stringify({ token_ids: [null] })}`,
      'strands-sglang 1 | line 2: token_ids[0]: expected a number, found null',
    ],
    [
      'a wrong sample of a dump',
      JSON.stringify({ samples: [slimeSample, { ...slimeSample, loss_mask: [] }] }),
      'slime 1,2 | samples[1].loss_mask: expected 1 entries (one for each token of the response), found 0 entries',
    ],
    [
      'a broken element',
      '[{"token_ids":[1]},{x},{"token_ids":[2]}]',
      'strands-sglang 1 2 | [1]: expected JSON, found "x" where a member name in double quotes is expected (column 2 of the element)',
    ],
    [
      'the end of a list that is cut off',
      `[${JSON.stringify(rollout(1))},{"token_i`,
      'strands-sglang 1 | [1]: expected JSON, found a list that has no end (byte 45)',
    ],
    [
      'text after a list',
      `[${JSON.stringify(rollout(1))}] and more`,
      'strands-sglang 1 | [1]: expected JSON, found more after the end of its list (byte 37)',
    ],
  ])('%s', (_what, text, expected) => {
    expect(opened(text)).toBe(expected)
  })
})

/** A format whose records belong together: each has a text, and all texts are the ids of one trajectory. */
const joining: Format = {
  name: 'joining',
  label: 'Joining',
  keeps: 'nothing',
  joins: true,
  sniff: (value) => isObject(value) && 'part' in value,
  read(values, { newId, now }) {
    const parts = (values as readonly { readonly part: unknown }[]).map(({ part }) => part)
    const wrong = parts.findIndex((part) => typeof part !== 'number')
    if (parts.includes(13)) return { ok: false, error: { path: 'all', expected: 'luck', found: '13' } }
    if (wrong >= 0)
      return { ok: false, error: { path: `[${wrong}].part`, expected: 'a number', found: describeValue(parts[wrong]) } }
    const token_ids = JSON.stringify({ token_ids: parts })
    const found = openText(token_ids, { file: undefined, now, newId }, strandsSglang)
    return found.ok ? found : { ok: false, error: found.error }
  },
}

describe('Records of a format that joins them', () => {
  const part = (id: unknown) => JSON.stringify({ part: id })
  const joined = async (text: string, limits: Partial<Limits> = {}) => {
    const options = { as: joining, limits: { ...LIMITS, ...limits } }
    const each = await Array.fromAsync(openFile(sourceOf(bytesOf(text)), source, options))
    return each.map((one) => (one.ok ? ids(one.trajectory).join() : `${one.scope}: ${one.error.message}`))
  }

  test.each([
    ['lines', [1, 2, 3].map(part).join('\n')],
    ['a list', `[${[1, 2, 3].map(part).join()}]`],
  ])('are read as one list, from %s', async (_, text) => {
    expect(await joined(text)).toEqual(['1,2,3'])
    expect(opened(text, joining)).toBe('joining 1,2,3')
  })

  test('lose only a wrong record, and the trajectory says that it is missing', async () => {
    const text = [part(1), '{"part": ', part('x'), part(4), '{"other": 1}'].join('\n')
    expect(await joined(text)).toEqual([
      expect.stringMatching(/^record: line 2: expected JSON, found /),
      expect.stringMatching(/^record: line 5: expected a trajectory of Joining, found an object with other$/),
      'record: line 3: part: expected a number, found "x"',
      '1,4',
    ])
    const found = openText(text, source, joining)
    expect(found.ok && found.trajectories[0]?.provenance).toMatchObject({
      lacked: expect.arrayContaining([expect.stringMatching(/^3 records that could not be read \(line 2: /)]),
    })
  })

  test('are refused together if none can be read, if one violates a rule of all, or if they are too large together', async () => {
    expect(await joined(part('x'))).toEqual(['file: part: expected a number, found "x"'])
    expect(await joined([part(1), part(13)].join('\n'))).toEqual(['file: all: expected luck, found 13'])
    expect(await joined([part(1), part(2), part(3)].join('\n'), { recordBytes: 25 })).toEqual([
      'file: expected records that belong together of at most 25 bytes, found more',
    ])
  })

  test('are refused if more than ten of them are wrong', async () => {
    const wrong = Array.from({ length: 12 }, () => part('x'))
    expect(await joined([part(1), ...wrong].join('\n'))).toEqual(['file: line 12: part: expected a number, found "x"'])
  })
})

test('a file whose first 10,000 records have no format is refused without reading the others, and fewer of them cost only themselves', async () => {
  const lines = (count: number) => `${'{"level":"info"}\n'.repeat(count)}${JSON.stringify(rollout(1))}\n`
  const refused = await Array.fromAsync(openFile(sourceOf(bytesOf(lines(10_000))), source))
  expect(refused).toMatchObject([
    { scope: 'file', error: { line: 1, hint: expect.stringMatching(/^The first 10000 records have no format/) } },
  ])
  const opened = await Array.fromAsync(openFile(sourceOf(bytesOf(lines(9_999))), source))
  expect(opened.filter(({ ok }) => ok)).toHaveLength(1)
})

test('a table whose first 10,000 rows have no format is read no further', async () => {
  let read = 0
  function* rows() {
    for (; read < 20_000; read++) yield { level: 'info' }
  }
  const sqlite = async () => ({ tables: [{ name: 'logs', rows }], close: async () => {} })
  const tools = { ...memoryTools, sqlite }
  const opened = await Array.fromAsync(openFile(sourceOf(bytesOf('SQLite format 3\0')), source, { tools }))
  expect(opened).toMatchObject([{ scope: 'file', error: { entry: 'logs', row: 1 } }])
  expect(read).toBeLessThan(10_001)
})

/** Like `opened`, for bytes that are read in pieces and within these limits. */
async function openedBytes(bytes: Uint8Array, limits: Partial<Limits> = {}): Promise<readonly string[]> {
  const each = await Array.fromAsync(openFile(sourceOf(bytes), source, { limits: { ...LIMITS, ...limits } }))
  return each.map((one) => (one.ok ? ids(one.trajectory).join() : one.error.message))
}
/** Each read overwrites the previous one, as reads of an open file do. */
function sourceOf(bytes: Uint8Array): ByteSource {
  const buffer = new Uint8Array(bytes.length)
  return {
    size: bytes.length,
    read: async (start, end) => {
      buffer.fill(0).set(bytes.subarray(start, end))
      return buffer.subarray(0, end - start)
    },
  }
}
const bytesOf = (text: string) => new TextEncoder().encode(text)

describe('openFile from bytes', () => {
  test.each<[string, string, Partial<Limits>, readonly string[]]>([
    ['gives one trajectory after the other', '[{"token_ids":[1]},{"token_ids":[2]}]', {}, ['1', '2']],
    [
      'reports a wrong record in its place',
      '{"token_ids":[1]}\n7\n{"token_ids":[2]}',
      {},
      ['1', expect.stringMatching(/^line 2: /), '2'],
    ],
    [
      'opens the lines after a first line that is broken',
      '{"token_ids":[1\n\n{"token_ids":[2]}\n7',
      {},
      [expect.stringMatching(/^line 1: expected JSON, found /), '2', expect.stringMatching(/^line 4: /)],
    ],
    [
      'with a value over several lines that is cut off',
      '{\n"token_ids": [1,\n2,',
      {},
      [expect.stringMatching(/^expected JSON, found the text ends .*line 3/)],
    ],
    [
      'with too many lines after a first line that is broken',
      '{"token_ids":[1\n1\n2\n3',
      { records: 2 },
      [expect.stringMatching(/^expected JSON, found /)],
    ],
    ['without a record', '', {}, ['expected a trajectory, found none in this file']],
    ['with a dump of no samples', '{"samples": []}', {}, ['expected a trajectory, found none in this file']],
    ['that is not JSON', '[1', {}, ['[0]: expected JSON, found a list that has no end (byte 3)']],
    ['with too many lines', '1\n2\n3', { records: 2 }, ['expected at most 2 trajectories, found more']],
    [
      'with too many samples in one record',
      `{"samples": [${Array(3).fill(JSON.stringify(slimeSample)).join()}]}`,
      { records: 2 },
      ['1,2', '1,2', 'expected at most 2 trajectories, found more'],
    ],
    ['with too many tokens', '[{"token_ids":[1,2,3]}]', { tokens: 2 }, ['[0]: expected at most 2 tokens, found 3']],
    [
      'with too many segments',
      '{"token_ids":[1,2,3],"loss_mask":[0,1,0]}',
      { segments: 2 },
      ['expected at most 2 segments, found 3'],
    ],
  ])('%s', async (_what, text, limits, expected) => {
    expect(await openedBytes(bytesOf(text), limits)).toEqual(expected)
  })

  test('reads short records after a long one', async () => {
    const long = JSON.stringify({ token_ids: [2], note: 'x'.repeat(1 << 20) })
    expect(await openedBytes(bytesOf(`{"token_ids":[1]}\n${long}\n{"token_ids":[3]}`))).toEqual(['1', '2', '3'])
  })

  test.each([
    ['after a record with a long list', `{"token_ids":[1]}\n{"token_ids":[2${',2'.repeat(40_000)}]}`, ['1', '2']],
    ['after a first line that is broken', ' {"token_ids":[1', ['line 1: expected JSON']],
  ])('reads short records %s', async (_what, before, expected) => {
    const read = await openedBytes(bytesOf(`${before}\n{"token_ids":[3]}\n{"token_ids":[4]}`))
    expect(read.map((one) => one.replace(/, *found .*|,.*/, ''))).toEqual([...expected, '3', '4'])
  })

  test('names the line that is not UTF-8', async () => {
    const bytes = Buffer.concat([bytesOf('{"token_ids":[1]}\n{"x":"'), Buffer.from([0xc3, 0x28]), bytesOf('"}')])
    expect(await openedBytes(bytes)).toEqual(['1', 'line 2: expected JSON, found bytes that are not UTF-8 (byte 25)'])
  })

  test('refuses an alternating mask before it creates segments', () => {
    const token_ids = Array.from({ length: LIMITS.segments + 1 }, (_, index) => index)
    const text = JSON.stringify({ token_ids, loss_mask: token_ids.map((index) => index % 2) })
    expect(opened(text)).toBe(`loss_mask: expected at most ${LIMITS.segments} segments, found ${LIMITS.segments + 1}`)
  })
})

describe('A record of megabytes, whose long lists are parsed in parts,', () => {
  /** Makes the longer list larger than a megabyte, which is read in several pieces, and the shorter one smaller. */
  const COUNT = 250_000
  const zeros = `[0${',0'.repeat(COUNT)}]`
  const text = (ids: string) => `{"token_ids": ${ids}, "logprobs": [NaN${',-0.5'.repeat(COUNT)}], "note": "é"}`

  test('opens as a short one', async () => {
    const [found] = await Array.fromAsync(openFile(sourceOf(bytesOf(text(zeros))), source))
    expect(found?.ok && found.trajectory.segments[0]).toMatchObject({
      ids: Array.from({ length: COUNT + 1 }, () => 0),
      problems: [{ kind: 'number', column: 'logprobs', index: 0, raw: 'NaN' }],
    })
  })

  test.each([
    ['an entry that is no id', zeros.replace(/0]$/, '-1]'), `token_ids[${COUNT}]: expected at least 0, found -1`],
    ['an entry that is missing', zeros.replace(/0]$/, ']'), 'expected JSON, found'],
    ['a text among its numbers', zeros.replace(/0]$/, '"a"]'), `token_ids[${COUNT}]: expected a number, found "a"`],
  ])('reports %s', async (_what, ids, expected) => {
    expect(await openedBytes(bytesOf(text(ids)))).toEqual([expect.stringContaining(expected)])
    expect(opened(text(ids))).toContain(expected)
  })
})

describe('openFile of a damaged file', () => {
  const files = [
    encode(sample),
    JSON.stringify({ rollout: rollout(1, 2, 3), messages: [{ role: 'user', content: [{ text: 'hi' }] }], reward: 1 }),
    JSON.stringify({
      segments: [[{ token_id: 1, logprob: null, loss_mask: 0 }], [{ token_id: 2, logprob: -1, loss_mask: 1 }]],
    }),
    JSON.stringify({
      samples: [
        {
          ...slimeSample,
          prompt: [{ role: 'user', content: 'x' }],
          metadata: {
            rollscope: {
              segment_info: [
                [false, 1],
                [true, 1],
              ],
            },
          },
          weight_versions: ['1'],
        },
      ],
    }),
  ]
  /** Opens the text or reports its problem. An opened trajectory can be stored and written in every format. */
  const survives = (text: string) => {
    const found = openText(text, source)
    if (!found.ok) return expect(found.error.message).toMatch(/\bexpected .+, found /s)
    for (const trajectory of found.trajectories) {
      const file = encode(trajectory)
      expect(openText(file, source)).toMatchObject({ ok: true })
      for (const { write } of writableFormats) JSON.stringify(write(trajectory).value)
    }
  }

  test('opens it or reports what is wrong, for any changed characters', () => {
    const edit = fc.tuple(
      fc.nat(),
      fc.nat(12),
      fc.oneof(fc.constantFrom('', '[', '{', '"', ',', '-', '1e999', 'NaN', 'null', '\\', '0.5'), anyText()),
    )
    fc.assert(
      fc.property(fc.constantFrom(...files), fc.array(edit, { minLength: 1, maxLength: 4 }), (file, edits) => {
        survives(
          edits.reduce(
            (text, [at, length, put]) =>
              text.slice(0, at % text.length) + put + text.slice((at % text.length) + length),
            `${file} `,
          ),
        )
      }),
      { numRuns: runs(2500) },
    )
  })

  test('opens it or reports what is wrong, for any changed field', () => {
    const put = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(-1, 1e300, [], {}, [[]], [{}], '__proto__', 'NaN'),
    )
    fc.assert(
      fc.property(fc.constantFrom(...files), fc.nat(), put, (file, place, value) => {
        let left = 1 + (place % (file.split(/[,:[{]/).length - 1))
        survives(JSON.stringify(JSON.parse(file, (_, old: unknown) => (--left === 0 ? value : old))))
      }),
      { numRuns: runs(2500) },
    )
  })
})

describe('parsePythonJson', () => {
  test.each<[string, unknown]>([
    ['[NaN, Infinity, -Infinity, -1, null]', [Number.NaN, Infinity, -Infinity, -1, null]],
    ['{"NaN": "a NaN and -Infinity", "\\"NaN": NaN}', { NaN: 'a NaN and -Infinity', '"NaN': Number.NaN }],
    ['["¤¤NaN", NaN]', ['¤¤NaN', Number.NaN]],
    ['{"__proto__": NaN}', JSON.parse('{"__proto__": null}')],
    ['{"__proto__": 12345678901234567890}', {}],
    [
      '[12345678901234567890,-9007199254740993, 9007199254740993 ,NaN]',
      ['12345678901234567890', '-9007199254740993', '9007199254740993', Number.NaN],
    ],
    [
      '{"seed": 12345678901234567890, "exact": [9007199254740992, 100000000000000000000], "text": ": 12345678901234567"}',
      { seed: '12345678901234567890', exact: [2 ** 53, 1e20], text: ': 12345678901234567' },
    ],
    [
      '[0.12345678901234567, 1e400, 12345678901234567.5]',
      [Number('0.12345678901234567'), Infinity, Number('12345678901234567.5')],
    ],
    [`[${'9'.repeat(400)}]`, ['9'.repeat(400)]],
    // A double as JavaScript writes it, and another whole number that is rounded to it.
    ['[-54341498078962250, -54341498078962248]', [-54341498078962250, '-54341498078962248']],
  ])('%s', (text, value) => {
    const read = parsePythonJson(text)
    if (text.includes('__proto__')) expect(Object.hasOwn(read as object, '__proto__')).toBe(true)
    else expect(read).toEqual(value)
  })

  test.each(['1', 'NaN'])('refuses %s nested in 101 lists as too deep', (number) => {
    expect(() => parsePythonJson('['.repeat(101) + number + ']'.repeat(101))).toThrow('deeper than 100 levels')
  })

  test.each(['[Nan]', '[Info]', '["NaN', '[NaN', 'NaNa', '"\\'])('refuses %s', (text) => {
    expect(() => parsePythonJson(text)).toThrow(SyntaxError)
  })

  test('takes linear time, with and without quotes and words', () => {
    const time = (text: string) => {
      const started = process.threadCpuUsage().user
      try {
        parsePythonJson(text)
      } catch {}
      return (process.threadCpuUsage().user - started) / 1000
    }
    time('[NaN]')
    for (const unit of ['\\"', '¤', 'N', '"NaN",', '-Infinity,', '[]', 'I']) {
      const [small, large] = [50_000, 400_000].map((count) => time(`[${unit.repeat(count / unit.length)}`)) as [
        number,
        number,
      ]
      // Quadratic time would be 64 times as long.
      expect(large).toBeLessThan(30 * Math.max(small, 3))
    }
  })
})

test('A number that JavaScript has written is read as the same number, also beyond the safe integers', () => {
  const numbers = fc
    .oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.double().map(Math.round))
    .filter((number) => Number.isFinite(number) && !Object.is(number, -0))
  const check = (number: number) => {
    expect(parsePythonJson(JSON.stringify([number]))).toEqual([number])
  }
  check(2 ** 63)
  fc.assert(fc.property(numbers, check))
})

test('Ids of 64 bits that a double rounds to one number are the groups of their own samples', () => {
  const line = (id: string) =>
    `{"example_id": ${id}, "prompt": "q", "completion": "a", "reward": 1, "info": {"seed": ${id}}}`
  const ids = ['9007199254740993', '9007199254740992']
  const opened = openText(ids.map(line).join('\n'), source)
  if (!opened.ok) throw new Error(opened.error.message)
  expect(opened.trajectories.map(({ group }) => group)).toEqual(ids.map((id) => ({ id, index: 0 })))
  expect(opened.trajectories[0]?.foreign).toHaveProperty('verifiers-results.info.seed', ids[0])
})

test('A text with more records than may be stored is refused, and one without a trajectory too', () => {
  expect(openText('0\n'.repeat(100_001), source)).toMatchObject({
    ok: false,
    error: { message: 'expected at most 100000 trajectories, found more' },
  })
  expect(openText('', source)).toMatchObject({
    ok: false,
    error: { message: 'expected a trajectory, found none in this file' },
  })
})
