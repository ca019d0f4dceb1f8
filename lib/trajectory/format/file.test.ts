import { expect, test } from 'vitest'
import { fileName, offlineFileName, severalFileName } from './file.ts'

test.each([
  '../../../etc/passwd',
  '..\\..\\windows\\system32',
  '/etc/passwd',
  'C:\\x',
  'a";filename="x.html\r\nX: y',
  'a\u0000b',
  '.',
  '..',
  '\u202egnp.exe',
  'ü/ß',
  'x'.repeat(10_000),
  '',
])('fileName of the id %j has only letters, digits, hyphens and its ending', (id) => {
  expect(fileName({ id })).toMatch(/^trajectory-[A-Za-z0-9-]{0,60}\.json$/)
  expect(fileName({ id }, 'slime')).toMatch(/^trajectory-[A-Za-z0-9-]{0,60}\.slime\.json$/)
  expect(offlineFileName({ id })).toMatch(/^trajectory-[A-Za-z0-9-]{0,60}\.html$/)
})

test('severalFileName contains the number of trajectories and their format', () => {
  expect([severalFileName(2, 'rollscope'), severalFileName(3, 'slime')]).toEqual([
    'trajectories-2.jsonl',
    'trajectories-3.slime.jsonl',
  ])
})
