import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { writableFormats } from '#lib/formats/registry.ts'
import { runToEnd } from '#lib/tasks/task.ts'
import { decode } from '#lib/trajectory/format/codec.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import { exportLosses } from './export-losses.ts'

test.each(['two-steps', 'retokenization-drift'])(
  'the export losses of %s are the same for a packed trajectory as for the file',
  (name) => {
    const read = decode(readFileSync(`public/examples/${name}.json`, 'utf8'))
    if (!read.ok) return expect.unreachable()
    const losses = runToEnd(exportLosses(null, pack(read.trajectory).trajectory, []))
    expect(losses).toEqual(writableFormats.map(({ name, write }) => ({ name, lost: write(read.trajectory).losses })))
    expect(losses.find((known) => known.name === 'rollscope')?.lost).toEqual([])
    expect(losses.some(({ lost }) => lost.length > 0)).toBe(true)
  },
)
