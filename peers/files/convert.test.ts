/** Converts .pt files that the real torch wrote with public/convert_pt.py, and opens the result. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openText } from '#lib/formats/reading/open.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobs } from '#lib/trajectory/tokens/tokens.ts'
import { source } from '#testing/trajectories.ts'
import { python } from '../set-up/python.ts'

const interpreter = inject('exports')
const script = path.resolve('public/convert_pt.py')

let folder: string
let trainerLogprobs: unknown
beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-pt-'))
  trainerLogprobs = await python(interpreter, 'files/save_pt.py', [folder], null)
})
afterAll(() => rmSync(folder, { recursive: true }))

function convert(...parameters: string[]) {
  const { status, stdout, stderr } = spawnSync(interpreter, [script, ...parameters], { cwd: folder, encoding: 'utf8' })
  return { status, stdout, stderr }
}

function opened(file: string): readonly Trajectory[] {
  const found = openText(readFileSync(path.join(folder, file), 'utf8'), source)
  if (!found.ok) throw new Error(found.error.message)
  return found.trajectories
}

test('A rollout dump of slime becomes a line for each sample, which opens with its ids, logprobs and reward', () => {
  expect(convert('rollout.pt')).toEqual({ status: 0, stdout: 'rollout.jsonl: 2 records\n', stderr: '' })
  const [first, second] = opened('rollout.jsonl')
  expect([first && ids(first), second && ids(second)]).toEqual([
    [5, 6, 7, 8],
    [5, 6, 7, 8],
  ])
  expect(first?.reward).toBe(0.5)
  expect(first && logprobs(first)).toEqual([null, null, -0.25, -1.5])
})

test.each(['train.pt', 'old.pt'])('The tensors of %s open with the numbers that torch reads, bfloat16 too', (file) => {
  const { status, stderr } = convert(file, '--out', 'train.jsonl', '--force')
  expect([status, stderr]).toEqual([0, ''])
  const columns = opened('train.jsonl').map(({ segments }) =>
    segments.flatMap((segment) => segment.columns?.trainerLogprobs ?? []).filter((logprob) => logprob !== null),
  )
  expect(columns).toEqual(trainerLogprobs)
})

test('Nothing is overwritten without --force, and no part of a file stays behind', () => {
  writeFileSync(path.join(folder, 'kept.jsonl'), 'mine')
  const refused = convert('rollout.pt', '--out', 'kept.jsonl')
  expect(refused).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/kept\.jsonl exists already: .+--force\n$/),
  })
  expect(readFileSync(path.join(folder, 'kept.jsonl'), 'utf8')).toBe('mine')
  expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
})

test('A sparse tensor gets its zeros, and a lone surrogate becomes its escape', () => {
  expect(convert('sparse.pt')).toMatchObject({ status: 0, stdout: 'sparse.jsonl: 1 records\n' })
  expect(JSON.parse(readFileSync(path.join(folder, 'sparse.jsonl'), 'utf8'))).toMatchObject({
    sparse: [1, 0, 2, 0],
    text: '\ud800',
  })
})

test('Numbers and arrays of numpy become those of JSON', () => {
  expect(convert('numpy.pt')).toEqual({ status: 0, stdout: 'numpy.jsonl: 1 records\n', stderr: '' })
  const record: unknown = JSON.parse(readFileSync(path.join(folder, 'numpy.jsonl'), 'utf8'))
  expect(record).toMatchObject({ reward: 0.5, group_index: 3, done: true, name: 'x', advantages: [1.5, 2.5] })
})

test('A pickle of a later protocol is refused by its name', () => {
  const { status, stderr } = convert('protocol-4.pt')
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/^protocol-4\.pt: it is a pickle of protocol 4 or later, .+ 2\n$/),
  ])
})

test('A file that JSON cannot represent is refused with a sentence, and other files are still converted', () => {
  writeFileSync(path.join(folder, 'hello.pt'), 'hello')
  const { status, stdout, stderr } = convert('complex.pt', 'meta.pt', 'cycle.pt', 'hello.pt', 'rollout.pt', '--force')
  expect([status, stdout]).toEqual([2, 'rollout.jsonl: 2 records\n'])
  expect(stderr.split('\n').slice(0, -1)).toEqual([
    'complex.pt: [0].complex is a tensor of complex numbers, which JSON does not have',
    expect.stringMatching(/^meta\.pt: \[0\]\.meta is a tensor whose numbers cannot be read \(.+\)$/),
    'cycle.pt: it contains itself, or its lists are nested too deeply',
    expect.stringMatching(/^hello\.pt: it is not a file of torch\.save, or it is damaged \(.+\)$/),
  ])
})

test('An object that could run code is refused with its class, and other files are still converted', () => {
  writeFileSync(path.join(folder, 'text.pt'), 'not a tensor')
  const { status, stdout, stderr } = convert('unsafe.pt', 'text.pt', 'missing.pt', 'rollout.pt', '--force')
  expect([status, stdout]).toEqual([2, 'rollout.jsonl: 2 records\n'])
  expect(stderr).toMatch(/^unsafe\.pt: it contains an object of __main__\.Sample, which could run code .+to_dict\(\)$/m)
  expect(stderr).toMatch(/^text\.pt: it is not a file of torch\.save, or it is damaged/m)
  expect(stderr).toMatch(/^missing\.pt: there is no such file$/m)
  expect(existsSync(path.join(folder, 'unsafe.jsonl'))).toBe(false)
})
